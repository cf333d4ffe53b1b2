package gate

import (
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// A Meaning has the transitions of one net for the names of a call, whatever the
// marking.
type Meaning struct {
	Net  int // its index in the policy
	Asks []Asked
}

// Asked has the transitions for one name.
type Asked struct {
	Transitions []int // that list it and do not exempt the call, in declaration order
	Free        bool
	Weak        bool // the name is no evidence
}

// Meaning returns the meaning of the call for each net that lists one of its names,
// in the order of the policy, inactive nets included. It is for callers that plan
// ahead; [Session.Decide] decides.
func (p *Policy) Meaning(c Call) []Meaning {
	j := &p.Prepare(c).judgement
	var all []Meaning
	for _, n := range p.nets {
		ls, ok := j.labels, true
		if n.Labels == nil {
			ls, ok = n.own.Labels(j.call, j.tools)
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

// asks returns the transitions of the net for each name that it lists.
func (n *net) asks(ls []naming.Label) []Asked {
	var asks []Asked
	spared := n.listing.Spared(ls)
	for i := range ls {
		lists, free := n.listing.Lookup(&ls[i])
		if lists = listing.Without(lists, spared); free || len(lists) > 0 {
			asks = append(asks, Asked{Transitions: lists, Free: free, Weak: ls[i].Weak})
		}
	}
	return asks
}

// Clone returns a copy of s that [State.Apply] can change without changing s.
func (s *State) Clone() *State {
	c := *s
	c.Nets = slices.Clone(s.Nets)
	c.Calls, c.Asks, c.ids = maps.Clone(s.Calls), maps.Clone(s.Asks), maps.Clone(s.ids)
	c.Spent = slices.Clip(s.Spent)
	return &c
}

// Snapshot returns the present state of the session. It belongs to the caller.
func (s *Session) Snapshot() (snapshot *State) { return read(s, (*State).Clone) }
