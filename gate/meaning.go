package gate

import (
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// A Meaning contains the transitions of one net for the names of a call, independently of the
// marking.
type Meaning struct {
	Net  int // index in the policy
	Asks []Asked
}

// Asked contains the transitions for one name.
type Asked struct {
	Transitions []int // transitions that list the name and do not exempt the call, in declaration order
	Free        bool
	Weak        bool // the name is not evidence
}

// Meaning returns the meaning of the call for each net that lists one of its names, in the order of
// the policy and including inactive nets. It is intended for planning; decisions are made by
// [Session.Decide].
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

// Clone returns a copy of s; applying a [Delta] to the copy does not affect s.
func (s *State) Clone() *State {
	c := *s
	c.Nets = slices.Clone(s.Nets)
	c.Calls, c.Asks, c.ids = maps.Clone(s.Calls), maps.Clone(s.Asks), maps.Clone(s.ids)
	c.Spent = slices.Clip(s.Spent)
	return &c
}

// Snapshot returns a copy of the current state of the session.
func (s *Session) Snapshot() (snapshot *State) { return read(s, (*State).Clone) }
