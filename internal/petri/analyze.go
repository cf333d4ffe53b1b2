package petri

import "slices"

// DefaultLimit is the number of states after which a search stops by default.
const DefaultLimit = 100_000

// Options are the bounds of [Analyze]. The zero value is ready to use.
type Options struct {
	MaxStates int   // below 1: DefaultLimit
	MaxBytes  int64 // of memory for states; 0: no bound
	Terminal  []int // places in which it is right to stop

	// Liveness asks for the transitions that can always happen again. Where the states
	// are visited one by one, that takes about ten times as long as the search,
	// and another 20 bytes or more a state, which MaxBytes does not bound. If
	// Continue ends it, the answers of the search stand.
	Liveness bool

	// Continue reports whether to go on. It is called now and then with the
	// number of states so far. It may be nil.
	Continue func(states int) bool

	counter int // a place with so many tokens is a counter; 0: largeCount
}

// largeCount is from where on counters are worth their effort.
const largeCount = 256

// Stop says why a search ended.
type Stop uint8

// The reasons.
const (
	Finished   Stop = iota // everything was visited
	StopStates             // at Options.MaxStates
	StopMemory             // at Options.MaxBytes
	StopAsked              // by Options.Continue
)

// Answer is yes, no, or not known.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota
	Yes
	No
)

// An Analysis is what [Analyze] found out. Unless Stop is Finished it is about
// a part of the states and proves nothing of the rest, but for what Bounded,
// Unbounded, Pump and Invariants say. Of an unbounded net the states are not
// counted, and Dead and Bounds come from its coverability.
type Analysis struct {
	Stop      Stop
	States    int   // distinct reachable markings
	Edges     int   // pairs of a state and a transition that is enabled in it
	Deadlocks int   // states in which nothing is enabled
	Trapped   int   // those of them in which no terminal place is marked
	Trap      []int // a shortest sequence of transitions into one of these; nil where it is not known
	Dead      []int // transitions that are never enabled
	Bounds    []int // the largest count of each place; Omega if unbounded

	Bounded   Answer
	Unbounded []int // places
	Pump      *Pump // why the net is unbounded

	Invariants    []Invariant
	AllInvariants bool // no others have minimal support

	// Every transition can always happen again, sooner or later. Without
	// Options.Liveness it is No where a deadlock or a dead transition shows that,
	// and Unknown elsewhere.
	Live    Answer
	NotLive []int // transitions that need not be able to, where Live is No; without Options.Liveness some of them

	BytesPerState float64 // of the search, with its table
}

// A Pump proves that a net is unbounded: after Prefix, Cycle can be repeated
// for ever, and each round adds tokens to Places and takes none from any.
type Pump struct {
	Places        []int
	Prefix, Cycle []int // transitions
}

// Bounds on the searches for a proof of unboundedness: a quick look, and a
// thorough one where the states were too many.
const (
	quickCover    = 500
	thoroughCover = 20_000
	maxCoverCells = 8_000_000 // counts in all markings of a cover
)

// Analyze finds out what a net can do from its initial marking. No count may
// be negative, and none over 1<<40.
//
// It looks for a proof that the net is bounded first: invariants over all
// places, or a finite cover. A net that is not bounded is never searched.
// Large counters that only go up and down by one are kept as ranges, so that
// they do not cost their size.
func Analyze(n *Net, initial Marking, o Options) *Analysis {
	a := &Analysis{}
	a.Invariants, a.AllInvariants = Invariants(n, initial)
	bounds := a.bound(n, initial)
	if a.Bounded == No {
		a.coverWhole(n, initial)
	} else if !a.count(n, initial, bounds, &o) {
		a.search(n, initial, bounds, &o)
	}
	return a
}

// bound tries to decide whether the net is bounded, and returns the bounds
// that are known before a search.
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

// coverWhole describes an unbounded net. Where the cover cannot be completed
// it says less: no dead transitions, and the unbounded places that it found.
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

// search visits every state.
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
	a.States, a.Edges, a.Deadlocks, a.Trapped = s.states.len(), s.edges, s.stuck, s.trapped
	a.Bounds, a.Dead = s.bounds(), unfired(s.fired)
	a.BytesPerState = s.states.bytesPerState()
	a.Trap = s.pathToTrap()
	switch a.Stop {
	case Finished:
		a.Live, a.NotLive = s.liveness(o)
	case StopStates, StopMemory: // there are too many states to find all deadlocks that way
		d, _ := findDeadlocks(n, initial, bounds, o)
		a.Deadlocks, a.Trapped = max(a.Deadlocks, d.stuck), max(a.Trapped, d.trapped)
		if a.Trap == nil {
			a.Trap = d.pathToTrap()
		}
	}
}

// Conserves reports whether the weighted sum of tokens is the same in every marking
// that the net can reach. Weights are those of all places.
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
		return Unknown // which of them can ever fire was not found out
	case fires:
		return No
	}
	return Yes
}

// weigh returns the weighted sum of the tokens of the arcs.
func weigh(arcs []Arc, weights []int) int {
	sum := 0
	for _, a := range arcs {
		sum += a.Weight * weights[a.Place]
	}
	return sum
}
