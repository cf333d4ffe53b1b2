package petri

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
	// the answer is Unknown unless a deadlock or a dead transition proves No.
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

// DefaultLimit is the default maximum number of states that a search visits.
const DefaultLimit = 100_000

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

func unfired(fired []bool) []int {
	var dead []int
	for t, ok := range fired {
		if !ok {
			dead = append(dead, t)
		}
	}
	return dead
}

// live returns the answer for a net whose only transitions that are not live are lost.
func live(lost []int) (Answer, []int) {
	if len(lost) > 0 {
		return No, lost
	}
	return Yes, nil
}
