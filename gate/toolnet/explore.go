package toolnet

import (
	"iter"
	"math"
	"slices"

	"github.com/petrigate/petrigate/internal/petri"
)

// An Exploration describes the states of a net that are reachable from its initial marking. It
// ignores the tools of the transitions.
type Exploration struct {
	States          int
	Complete        bool // whether all states were visited; if not, the other fields are incomplete
	Deadlocks       int  // number of states where no transition is enabled
	DeadTransitions []string
	Bounded         Answer
	Unbounded       []string // places whose token count is unbounded
	Pump            []string // sequence of transitions that can be repeated forever after Prefix, adding tokens to the unbounded places
	Prefix          []string

	// Trapped is the number of deadlocks where no place in [Net.Terminal] is marked. Trap is a
	// shortest sequence of transitions that leads to such a deadlock, or nil if unknown.
	Trapped int
	Trap    []string

	// Invariants are weighted sums of token counts that stay constant. Each of them covers a
	// minimal set of places. In a large net, some invariants may be missing, even if the
	// exploration is complete. But those listed always hold.
	Invariants []string // the invariants as equations, such as "idle + 2 running = 1"
}

// An Answer is yes, no or unknown.
type Answer uint8

const (
	Unsure Answer = iota
	Yes
	No
)

// Explore explores the reachable states of the net, which must be free of errors (see [Net.Check]).
// It visits at most limit states, or 100,000 if limit is less than 1. States that differ only in a
// few places with many tokens usually count as one state toward the limit. For an unbounded net,
// Explore does not count the states.
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

func (n *Net) options(limit int) petri.Options {
	o := petri.Options{MaxStates: limit}
	for _, place := range n.Terminal {
		o.Terminal = append(o.Terminal, slices.Index(n.Places, place))
	}
	return o
}

// Conserves reports whether the weighted sum of tokens is the same in every reachable state. A
// place without a weight has weight 0. Conserves visits at most as many states as [Net.Explore]
// does with the same limit. It returns Unsure if these states do not settle the question. It also
// returns Unsure if weights contains an unknown place or a weight that does not fit in 32 bits.
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

// A Reached is a reachable state of a net.
type Reached struct {
	Marking Marking
	Enabled []string // transitions that can fire; empty in a deadlock
}

// States yields each reachable state of the net once, in breadth-first order from the initial
// marking. It considers all transitions, regardless of their tools. For an unbounded net, the
// sequence is infinite.
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
