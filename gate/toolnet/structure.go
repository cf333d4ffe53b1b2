package toolnet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// MaxRounds limits the rounds of a net's structural transitions, which fire by themselves. In each
// round, every enabled transition fires once, unless it conflicts with another; see
// [petri.Net.Advance]. If transitions still fire after MaxRounds rounds and no marking has
// repeated, they are assumed to fire forever.
const MaxRounds = 10_000

// Structure returns the net as a plain place/transition net with its initial marking. Places and
// transitions keep their order. The net must be free of errors (see [Net.Check]).
func (n *Net) Structure() (petri.Net, petri.Marking) {
	places := make(map[string]int, len(n.Places))
	for i, place := range n.Places {
		places[place] = i
	}
	arcs := func(names []string) []petri.Arc {
		return petri.Arcs(list.Map(names, func(name string) int { return places[name] }))
	}
	net := petri.Net{Places: len(n.Places)}
	for i := range n.Transitions {
		net.Transitions = append(net.Transitions, petri.Transition{In: arcs(n.Transitions[i].Inputs), Out: arcs(n.Transitions[i].Outputs)})
	}
	initial := make(petri.Marking, len(n.Places))
	for place, tokens := range n.Initial {
		initial[places[place]] = tokens
	}
	return net, initial
}

// Structural returns the indexes of the structural transitions. These transitions have no tools and
// are not timed, so they fire on their own once enabled.
func (n *Net) Structural() []int {
	return list.Indexes(n.Transitions, func(t Transition) bool { return len(t.Tools) == 0 && t.Every == 0 })
}

// behavior reports an error if the transitions without tools do not stop firing or the net is
// unbounded.
func (c *checker) behavior() {
	n := c.net
	net, initial := n.Structure()
	if !net.Advance(slices.Clone(initial), n.Structural(), MaxRounds, slices.Clone[petri.Marking]) {
		c.report("", fmt.Sprintf("the transitions without tools still fire after %d rounds", MaxRounds), "give one of them a tool")
		return // the net may be unbounded only because of this error
	}
	if n.AllowUnbounded || net.NeverGrows() {
		return
	}
	if pump := petri.FindPump(&net, initial); pump != nil {
		c.report("", fmt.Sprintf("the net is unbounded: repeating %s adds tokens to %s forever",
			strings.Join(n.named(pump.Cycle), ", "), strings.Join(n.placed(pump.Places), ", ")), "add an input place that limits it, or set allowUnbounded")
	}
}

func (n *Net) named(transitions []int) []string {
	return list.Map(transitions, func(t int) string { return n.Transitions[t].Name })
}

func (n *Net) placed(places []int) []string {
	return list.Map(places, func(p int) string { return n.Places[p] })
}

// Clone returns a copy of the net. It shares only functions and labels with the original.
func (n *Net) Clone() Net {
	c := *n
	c.Places, c.Terminal = slices.Clone(n.Places), slices.Clone(n.Terminal)
	c.Free, c.Key = slices.Clone(n.Free), slices.Clone(n.Key)
	c.Maps, c.Phases = slices.Clone(n.Maps), slices.Clone(n.Phases)
	for i := range c.Phases {
		c.Phases[i].Tools = slices.Clone(c.Phases[i].Tools)
	}
	if n.Sum != nil {
		sum := *n.Sum
		c.Sum = &sum
	}
	c.Initial, c.Recovery = maps.Clone(n.Initial), maps.Clone(n.Recovery)
	c.Transitions = slices.Clone(n.Transitions)
	for i := range c.Transitions {
		t := &c.Transitions[i]
		t.Inputs, t.Outputs = slices.Clone(t.Inputs), slices.Clone(t.Outputs)
		t.Tools, t.Unless, t.Key = slices.Clone(t.Tools), slices.Clone(t.Unless), slices.Clone(t.Key)
	}
	return c
}
