package callclass

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// meaning returns the effect of a call with the given names on n; see [Meaning].
func (n *Net) meaning(ls []naming.Label) Meaning {
	var e Meaning
	spared := n.listing.Spared(ls)
	for i := range ls {
		if lists, free := n.listing.Lookup(&ls[i], spared); free || len(lists) > 0 {
			e = append(e, n.separateSpoilers(gate.Asked{Transitions: lists, Free: free, Weak: ls[i].Weak}))
		}
	}
	if barred := n.barringPlaces(ls); len(barred) > 0 {
		e = append(e, Ask{Barred: barred})
	}
	return e
}

// barringPlaces returns the indexes of the places that refuse calls with the given names while they
// are marked.
func (n *Net) barringPlaces(ls []naming.Label) []int {
	var places []int
	for _, phase := range n.Info.Phases {
		if !allows(phase, ls) {
			places = list.Add(places, n.Place[phase.Place])
		}
	}
	return places
}

// allows reports whether the phase lists a name that the call is certain to have.
func allows(p gate.Phase, ls []naming.Label) bool {
	return slices.ContainsFunc(p.Tools, func(t gate.Tool) bool { return naming.Exempts(&t, ls) })
}

// separateSpoilers converts a, the transitions for one name of a call, to an [Ask]. It moves the
// transitions with [gate.Transition.Spoils] to the list Spoilers. These transitions keep other
// calls from counting toward requirements.
func (n *Net) separateSpoilers(a gate.Asked) Ask {
	spoils := func(t int) bool { return n.Info.Transitions[t].Spoils }
	if !slices.ContainsFunc(a.Transitions, spoils) {
		return Ask{Asked: a}
	}
	out := Ask{Asked: a, Spoilers: list.Filter(a.Transitions, spoils)}
	out.Transitions = slices.DeleteFunc(slices.Clone(a.Transitions), spoils)
	return out
}

// knows reports whether the call is certain to have a name that n gates, declares free or lists in
// a phase. Names that n only observes do not count.
func (n *Net) knows(ls []naming.Label) bool {
	return n.listing.Knows(ls) || slices.ContainsFunc(n.Info.Phases, func(p gate.Phase) bool { return allows(p, ls) })
}
