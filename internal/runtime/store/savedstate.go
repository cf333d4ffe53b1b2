package store

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// savedState holds the values that a delta replaces in a state, so that the step can be undone
// exactly.
type savedState struct {
	inverse  gate.Delta
	replaced *gate.OpenCall // the call that the delta replaces, if it also closes another call; otherwise nil
	spent    []uint64
	last     uint64
	tools    []gate.Call
	would    gate.WouldCount
	nets     [4]gate.NetDelta // space for inverse.Nets, sufficient for most deltas
}

// save saves the values in s that d will replace.
func (b *savedState) save(s *gate.State, d *gate.Delta) {
	if d == nil {
		d = &gate.Delta{}
	}
	b.spent, b.last, b.tools, b.would = s.Spent, s.Last, s.Tools, s.Would
	i := &b.inverse
	i.Nets = b.nets[:0]
	for _, n := range d.Nets {
		saved := slices.ContainsFunc(i.Nets, func(other gate.NetDelta) bool { return other.Net == n.Net })
		if !saved { // a NetDelta without a key replaces the net with all its values
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
	case i.Opened == nil: // the delta changes the call and closes no other call
		i.Opened = s.Calls[c.Number]
	default:
		b.replaced = s.Calls[c.Number]
	}
}

// restore restores the saved values in s.
func (b *savedState) restore(s *gate.State) {
	s.Apply(&b.inverse)
	if b.replaced != nil {
		s.Apply(&gate.Delta{Opened: b.replaced})
	}
	s.Spent, s.Last, s.Tools, s.Would = b.spent, b.last, b.tools, b.would
}
