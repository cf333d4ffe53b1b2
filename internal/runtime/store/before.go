package store

import "github.com/petrigate/petrigate/gate"

// before is what a change takes from a state, so that it can be given back exactly.
type before struct {
	inverse gate.Delta
	stood   *gate.OpenCall // as it was before it stood for the call that was closed; nil: none does
	spent   []uint64
	last    uint64
	tools   []gate.Call
	would   gate.WouldCount
	nets    [4]gate.NetDelta // room for those of most changes
}

// remember notes what d, which is not applied yet, takes from s.
func (b *before) remember(s *gate.State, d *gate.Delta) {
	if d == nil {
		d = &gate.Delta{}
	}
	b.spent, b.last, b.tools, b.would = s.Spent, s.Last, s.Tools, s.Would
	i := &b.inverse
	i.Nets = b.nets[:0]
	for _, n := range d.Nets {
		if !b.has(n.Net) { // with all its values
			i.Nets = append(i.Nets, gate.NetDelta{Net: n.Net, Data: s.Nets[n.Net]})
		}
	}
	if i.Asked = s.Asks[d.Answered]; d.Asked != nil {
		i.Answered = d.Asked.Number
	}
	i.Opened = s.Calls[d.Closed]
	switch c := d.Opened; {
	case c == nil:
	case s.Calls[c.Number] == nil:
		i.Closed = c.Number
	case i.Opened == nil: // its record changes, and no call is closed
		i.Opened = s.Calls[c.Number]
	default:
		b.stood = s.Calls[c.Number]
	}
}

func (b *before) has(net int) bool {
	for i := range b.inverse.Nets {
		if b.inverse.Nets[i].Net == net {
			return true
		}
	}
	return false
}

// restore gives back what the change has taken.
func (b *before) restore(s *gate.State) {
	s.Apply(&b.inverse)
	if b.stood != nil {
		s.Apply(&gate.Delta{Opened: b.stood})
	}
	s.Spent, s.Last, s.Tools, s.Would = b.spent, b.last, b.tools, b.would
}
