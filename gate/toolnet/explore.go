package toolnet

import (
	"iter"
	"math"
	"slices"

	"github.com/petrigate/petrigate/internal/petri"
)

// An Exploration describes the reachable states of one net. It
// counts from the initial marking over all transitions, whatever they gate.
type Exploration struct {
	States          int
	Complete        bool // every state was visited; otherwise the other fields are partial
	Deadlocks       int  // states in which no transition can fire: terminal states
	DeadTransitions []string
	Bounded         Answer
	Unbounded       []string // places that can grow without end
	Pump            []string // the transitions that make them grow, after Prefix
	Prefix          []string

	// Trapped counts the deadlocks in which no place of [Net.Terminal] is marked,
	// and Trap is a shortest sequence of transitions into one of them; nil if
	// none is known.
	Trapped int
	Trap    []string

	// Invariants are the sums of tokens that never change, as few places in each as
	// there can be. They hold also where the exploration is not complete; there
	// may then be others.
	Invariants []string // such as "idle + 2 running = 1"
}

// Answer is yes, no, or not known.
type Answer uint8

const (
	Unsure Answer = iota
	Yes
	No
)

// Explore counts the reachable states of the net, which must have no mistakes, see
// [Net.Check]. Those that have to be visited one by one are at most limit; a limit below
// 1 is 100,000. A large counter costs nothing of that, and a net that is unbounded has no
// states to count.
func (n *Net) Explore(limit int) Exploration {
	net, initial := n.Structure()
	g := petri.Analyze(&net, initial, n.options(limit))
	e := Exploration{
		States: g.States, Complete: g.Bounded == petri.Yes && g.Stop == petri.Finished,
		Deadlocks: g.Deadlocks, Trapped: g.Trapped, Trap: n.named(g.Trap),
		DeadTransitions: n.named(g.Dead), Bounded: Answer(g.Bounded),
	}
	for _, inv := range g.Invariants {
		e.Invariants = append(e.Invariants, inv.Text(n.Places))
	}
	if g.Pump != nil {
		e.Unbounded, e.Prefix, e.Pump = n.placed(g.Pump.Places), n.named(g.Pump.Prefix), n.named(g.Pump.Cycle)
	}
	return e
}

// options returns those of an analysis of the net.
func (n *Net) options(limit int) petri.Options {
	o := petri.Options{MaxStates: limit}
	for _, place := range n.Terminal {
		o.Terminal = append(o.Terminal, slices.Index(n.Places, place))
	}
	return o
}

// Conserves reports whether the weighted sum of tokens is the same in every state
// that the net can reach; a place without a weight does not count. It visits at most
// as many states as [Net.Explore] with that limit. For an unknown place, the answer is
// not known.
func (n *Net) Conserves(weights map[string]int, limit int) Answer {
	net, initial := n.Structure()
	places := make([]int, len(n.Places))
	for place, weight := range weights {
		i := slices.Index(n.Places, place)
		if i < 0 || weight < -math.MaxInt32 || weight > math.MaxInt32 {
			return Unsure
		}
		places[i] = weight
	}
	return Answer(petri.Conserves(&net, initial, places, n.options(limit)))
}

// A Reached is one state that a net can reach.
type Reached struct {
	Marking Marking
	Enabled []string // the transitions that can fire in it; none: it is terminal, a deadlock
}

// States yields the states that the net can reach from its initial marking by all
// transitions, whatever they gate: each once, the nearest first. It ends when all
// were yielded, so it never ends for an unbounded net.
func (n *Net) States() iter.Seq[Reached] {
	return func(yield func(Reached) bool) {
		net, initial := n.Structure()
		for m, enabled := range net.Reachable(initial) {
			shown := make(Marking, len(n.Places))
			for i, place := range n.Places {
				shown[i] = Tokens{Place: place, Count: m[i]}
			}
			if !yield(Reached{shown, n.named(enabled)}) {
				return
			}
		}
	}
}
