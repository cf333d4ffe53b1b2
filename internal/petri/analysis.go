package petri

// An Analysis is the result of [Analyze]. Unless Stop is Finished, it describes only part of the
// states and proves nothing about the rest, except for Bounded, Unbounded, Pump and Invariants. The
// states of an unbounded net are not counted; its Dead and Bounds come from coverability.
type Analysis struct {
	Stop      Stop
	States    int   // number of distinct reachable markings
	Edges     int   // number of pairs of a state and a transition that the state enables
	Deadlocks int   // number of states that enable no transition
	Trapped   int   // number of deadlocks without a marked terminal place
	Trap      []int // a shortest firing sequence that leads to a trapped deadlock; nil if unknown
	Dead      []int // transitions that are never enabled
	Bounds    []int // the largest token count in each place; Omega if the place is unbounded

	Bounded   Answer
	Unbounded []int // places whose token count is unbounded
	Pump      *Pump // a proof that the net is unbounded

	Invariants    []Invariant
	AllInvariants bool // Invariants contains all invariants with minimal support

	// Live is Yes if every transition can always fire again eventually. Without Options.Liveness,
	// the answer is Unknown unless a deadlock or a dead transition proves No.
	Live    Answer
	NotLive []int // if Live is No, the transitions that are not live; without Options.Liveness, only some of them

	BytesPerState float64 // number of bytes that the search uses per state, including the hash table
}

// A Pump proves that a net is unbounded. After Prefix, Cycle can be repeated forever, and each
// repetition adds tokens to Places without removing tokens from any place.
type Pump struct {
	Places        []int
	Prefix, Cycle []int // sequences of transitions, by index
}

// Options limit an [Analyze] run. The zero value uses the defaults.
type Options struct {
	MaxStates int   // maximum number of states; below 1: DefaultLimit
	MaxBytes  int64 // maximum memory for states; 0: unlimited
	Terminal  []int // places where the net may stop

	// Liveness requests the transitions that can always fire again. When the states are visited one
	// by one, this takes about ten times as long as the search, and at least 20 bytes per state,
	// which MaxBytes does not limit. If Continue stops this phase, the search results remain valid.
	Liveness bool

	// Continue reports whether Analyze should continue. It is called from time to time with the
	// number of states found so far. It may be nil.
	Continue func(states int) bool

	counter int // a place with at least this many tokens is a counter; 0: largeCount
}

// DefaultLimit is the default maximum number of states that a search visits.
const DefaultLimit = 100_000

// largeCount is the default minimum number of tokens in a counter. Smaller counters are not worth
// the effort.
const largeCount = 256

// Stop is the reason why a search ended.
type Stop uint8

// Reasons why a search ended.
const (
	Finished   Stop = iota // all states were visited
	StopStates             // Options.MaxStates was reached
	StopMemory             // Options.MaxBytes was reached
	StopAsked              // Options.Continue returned false
)

// Answer is yes, no or unknown.
type Answer uint8

// Possible answers.
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

// live returns the answer for a net if exactly the transitions in lost are not live.
func live(lost []int) (Answer, []int) {
	if len(lost) > 0 {
		return No, lost
	}
	return Yes, nil
}
