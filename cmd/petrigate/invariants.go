package main

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
)

// invariants are sums of tokens of a net that nothing changes, as text.
func invariants(info gate.NetInfo) []string {
	texts := []string{}
	net := petri.Net{Places: len(info.Places)}
	start := make(petri.Marking, len(info.Places))
	for i, p := range info.Places {
		start[i] = info.Initial[p]
	}
	for _, t := range info.Transitions {
		net.Transitions = append(net.Transitions, petri.Transition{In: arcs(info.Places, t.Inputs), Out: arcs(info.Places, t.Outputs)})
	}
	found, _ := petri.Invariants(&net, start)
	for _, inv := range found {
		texts = append(texts, invariantText(info.Places, inv))
	}
	return texts
}

// arcs are places by their number.
func arcs(among, places []string) []petri.Arc {
	numbers := make([]int, len(places))
	for i, p := range places {
		numbers[i] = slices.Index(among, p)
	}
	return petri.Arcs(numbers)
}
