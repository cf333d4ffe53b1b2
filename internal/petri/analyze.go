package petri

import "slices"

// DefaultLimit is the default maximum number of states that a search visits.
const DefaultLimit = 100_000

// Options are the bounds of [Analyze]. The zero value uses the defaults.
type Options struct {
	MaxStates int   // maximum number of states; below 1: DefaultLimit
	MaxBytes  int64 // maximum memory for states; 0: unlimited
	Terminal  []int // places where the net is allowed to stop

	// Liveness asks for the transitions that can always fire again. When the states are visited one
	// by one, this takes about ten times as long as the search and 20 bytes or more for each state,
	// which MaxBytes does not bound. If Continue stops this phase, the results of the search remain
	// valid.
	Liveness bool

	// Continue reports whether Analyze should continue. It is called from time to time with the
	// number of states found so far. It may be nil.
	Continue func(states int) bool

	counter int // a place with at least this many tokens is a counter; 0: largeCount
}

// largeCount is the default number of tokens above which a place is treated as a counter; below it,
// the effort is not worthwhile.
const largeCount = 256

// Stop is the reason why a search ended.
type Stop uint8

// The reasons for the end of a search.
const (
	Finished   Stop = iota // all states were visited
	StopStates             // Options.MaxStates was reached
	StopMemory             // Options.MaxBytes was reached
	StopAsked              // Options.Continue returned false
)

// Answer is yes, no or unknown.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// An Analysis is the result of [Analyze]. Unless Stop is Finished, it describes only a part of the
// states and proves nothing about the rest, except for Bounded, Unbounded, Pump and Invariants. For
// an unbounded net, the states are not counted, and Dead and Bounds come from its coverability.
type Analysis struct {
	Stop      Stop
	States    int   // distinct reachable markings
	Edges     int   // pairs of a state and a transition enabled in it
	Deadlocks int   // states without enabled transitions
	Trapped   int   // deadlocks without a marked terminal place
	Trap      []int // a shortest firing sequence into a trapped deadlock; nil if unknown
	Dead      []int // transitions that are never enabled
	Bounds    []int // the largest token count of each place; Omega if unbounded

	Bounded   Answer
	Unbounded []int // unbounded places
	Pump      *Pump // a proof that the net is unbounded

	Invariants    []Invariant
	AllInvariants bool // Invariants contains all invariants of minimal support

	// Live is Yes if every transition can always fire again eventually. Without Options.Liveness,
	// Live is No only if a deadlock or a dead transition proves that, and otherwise Unknown.
	Live    Answer
	NotLive []int // if Live is No, transitions that are not live; without Options.Liveness, some of them

	BytesPerState float64 // memory of the search per state, including its hash table
}

// A Pump proves that a net is unbounded: after Prefix, Cycle can be repeated forever, and each
// repetition adds tokens to Places and removes none from any place.
type Pump struct {
	Places        []int
	Prefix, Cycle []int // transitions
}

// Bounds on the two searches for a proof of unboundedness: a quick one before the states are
// visited, and a thorough one if there are too many states.
const (
	quickCover    = 500
	thoroughCover = 20_000
	maxCoverCells = 8_000_000 // token counts in all markings of a cover
)

// Analyze explores the behavior of a net from its initial marking. No token count of the initial
// marking may be negative or larger than 1<<40.
//
// Analyze first looks for a proof that the net is bounded: invariants that cover all places, or a
// finite coverability graph. It never enumerates the states of an unbounded net. Large counters
// that change only by one are stored as ranges, so that their cost does not depend on their size.
func Analyze(n *Net, initial Marking, o Options) *Analysis {
	a := &Analysis{}
	a.Invariants, a.AllInvariants = Invariants(n, initial)
	bounds := a.bound(n, initial)
	if a.Bounded == No {
		a.coverWhole(n, initial)
	} else if !a.exploreCounters(n, initial, bounds, &o) {
		a.search(n, initial, bounds, &o)
	}
	return a
}

// bound tries to decide whether the net is bounded and returns the bounds of the places that are
// known before a search.
func (a *Analysis) bound(n *Net, initial Marking) []int {
	bounds := invariantBounds(n.Places, a.Invariants)
	if !slices.Contains(bounds, -1) || n.NeverGrows() {
		a.Bounded = Yes
		return bounds
	}
	c := newCover(n, initial, coverBudget(n, quickCover), true)
	switch {
	case c.pump != nil:
		a.Bounded = No
	case c.complete:
		a.Bounded = Yes
		return c.bounds()
	}
	return bounds
}

func coverBudget(n *Net, markings int) int {
	return min(markings, maxCoverCells/max(1, n.Places))
}

// coverWhole describes an unbounded net by its coverability. If the cover cannot be completed, the
// result has no dead transitions and only the unbounded places found so far.
func (a *Analysis) coverWhole(n *Net, initial Marking) {
	c := newCover(n, initial, coverBudget(n, thoroughCover), false)
	a.Pump, a.Bounded = c.pump, No
	a.Bounds = c.bounds()
	for place, bound := range a.Bounds {
		if bound == Omega {
			a.Unbounded = append(a.Unbounded, place)
		}
	}
	if !c.complete {
		a.Stop = StopStates
		return
	}
	a.Stop = Finished
	a.Dead = unfired(c.fired)
}

func unfired(fired []bool) []int {
	var dead []int
	for t, ok := range fired {
		if !ok {
			dead = append(dead, t)
		}
	}
	return dead
}

// search visits every reachable state.
func (a *Analysis) search(n *Net, initial Marking, bounds []int, o *Options) {
	s := newSearch(n, initial, bounds)
	a.Stop = s.run(o)
	if a.Stop == Finished {
		a.Bounded = Yes
	}
	if a.Bounded == Unknown && a.Stop != StopAsked {
		if c := newCover(n, initial, coverBudget(n, thoroughCover), true); c.pump != nil {
			a.coverWhole(n, initial)
			return
		}
	}
	a.States, a.Edges, a.Deadlocks, a.Trapped = s.states.len(), s.edges, s.deadlocks, s.trapped
	a.Bounds, a.Dead = s.bounds(), unfired(s.fired)
	a.BytesPerState = s.states.bytesPerState()
	a.Trap = s.pathToTrap()
	switch a.Stop {
	case Finished:
		a.Live, a.NotLive = s.liveness(o)
	case StopStates, StopMemory: // too many states to find all deadlocks in this way
		d, _ := findDeadlocks(n, initial, bounds, o)
		a.Deadlocks, a.Trapped = max(a.Deadlocks, d.deadlocks), max(a.Trapped, d.trapped)
		if a.Trap == nil {
			a.Trap = d.pathToTrap()
		}
	}
}

// Conserves reports whether the weighted sum of tokens is the same in every reachable marking.
// weights has one entry for each place.
func Conserves(n *Net, initial Marking, weights []int, o Options) Answer {
	var changing []int // transitions
	for i := range n.Transitions {
		if t := &n.Transitions[i]; weigh(t.In, weights) != weigh(t.Out, weights) {
			changing = append(changing, i)
		}
	}
	if len(changing) == 0 {
		return Yes
	}
	a := Analyze(n, initial, o)
	fires := slices.ContainsFunc(changing, func(t int) bool { return !slices.Contains(a.Dead, t) })
	switch {
	case a.Stop != Finished && (a.Bounded == No || !fires):
		return Unknown // it is unknown which of these transitions can ever fire
	case fires:
		return No
	}
	return Yes
}

// weigh returns the weighted sum of the tokens that the arcs carry.
func weigh(arcs []Arc, weights []int) int {
	sum := 0
	for _, a := range arcs {
		sum += a.Weight * weights[a.Place]
	}
	return sum
}
