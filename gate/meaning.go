package gate

import (
	"maps"
	"slices"
)

// A Meaning is what the names of a call say to one net, whatever its marking.
type Meaning struct {
	Net  int // its index in the policy
	Asks []Asked
}

// Asked is what one name says.
type Asked struct {
	Transitions []int // that list it and do not spare the call, in declaration order
	Free        bool
	Weak        bool // the name is no evidence
}

// Meaning is what the call says to each net that lists one of its names, in
// the order of the policy, the inactive ones included. It is for those who look
// ahead: [Session.Decide] decides.
func (p *Policy) Meaning(c Call) []Meaning {
	tools := physical(&c, nil)
	labels := p.names.labels(&c, tools, nil)
	var all []Meaning
	for _, n := range p.nets {
		ls, ok := labels, true
		if n.Labels == nil {
			ls, ok = n.labels(&c, tools)
		}
		if !ok {
			continue
		}
		if asks := n.asks(ls); len(asks) > 0 {
			all = append(all, Meaning{Net: n.index, Asks: asks})
		}
	}
	return all
}

// asks is what the net says of each of the names that it lists.
func (n *net) asks(ls []label) []Asked {
	var asks []Asked
	spared := n.spared(ls)
	for i := range ls {
		lists, free := n.lookup(&ls[i])
		if lists = without(lists, spared); free || len(lists) > 0 {
			asks = append(asks, Asked{Transitions: lists, Free: free, Weak: ls[i].weak})
		}
	}
	return asks
}

// Clone is a state that can be changed by [State.Apply] without a change of s.
func (s *State) Clone() *State {
	c := *s
	c.Nets = slices.Clone(s.Nets)
	c.Calls, c.Asks, c.ids = maps.Clone(s.Calls), maps.Clone(s.Asks), maps.Clone(s.ids)
	c.Spent = slices.Clip(s.Spent)
	return &c
}

// Snapshot is the state of the session as it is now. It belongs to the caller.
func (s *Session) Snapshot() (snapshot *State) {
	s.update(func(state *State) *Delta {
		snapshot = state.Clone()
		return nil
	})
	return snapshot
}
