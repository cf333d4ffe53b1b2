package petri

import "github.com/petrigate/petrigate/internal/list"

// An Analysis is the result of [Analyze]. If Stop is not Finished, only some of the states were
// visited, and only Bounded, Unbounded, Pump and Invariants are valid for the entire net. The
// states of an unbounded net are not counted; its Dead and Bounds come from a coverability search.
type Analysis struct {
	Stop      Stop
	States    int   // number of distinct reachable markings
	Edges     int   // number of edges in the state graph: for each state, the number of enabled transitions
	Deadlocks int   // number of states without an enabled transition
	Trapped   int   // number of trapped states: deadlocks without a marked terminal place
	Trap      []int // shortest firing sequence to a trapped state; nil if unknown
	Dead      []int // transitions that are never enabled
	Bounds    []int // largest token count in each place; Omega if unbounded

	Bounded   Answer
	Unbounded []int // places whose token count is unbounded
	Pump      *Pump // proof that the net is unbounded

	Invariants    []Invariant
	AllInvariants bool // whether Invariants contains all invariants with minimal support

	// Live is Yes if every transition can always fire again eventually. Without Options.Liveness,
	// Live is Unknown unless a deadlock or a dead transition proves No.
	Live    Answer
	NotLive []int // if Live is No, the transitions that are not live; without Options.Liveness, only some of them

	BytesPerState float64 // memory used by the search per state, in bytes, including the hash table
}

// A Pump proves that a net is unbounded. After Prefix, Cycle can be repeated forever, and each
// repetition adds tokens to Places without removing tokens from any place.
type Pump struct {
	Places        []int
	Prefix, Cycle []int // sequences of transition indexes
}

// Options limit the effort of [Analyze]. The zero value uses the defaults.
type Options struct {
	MaxStates int   // maximum number of states; less than 1 means DefaultLimit
	MaxBytes  int64 // maximum memory for states, in bytes; 0 means unlimited
	Terminal  []int // terminal places, where the net may stop: a deadlock is not a trap if any of them is marked

	// Liveness makes Analyze determine which transitions can always fire again. If the states are
	// visited one by one, this takes about ten times as long as the search. It also takes at least
	// 20 bytes per state, which do not count towards MaxBytes. If Continue stops this phase, the
	// search results remain valid.
	Liveness bool

	// Continue reports whether Analyze should continue. It is called from time to time with the
	// number of states found so far. It may be nil.
	Continue func(states int) bool

	counter int // minimum number of tokens in a counter (see counterSearch); 0 means largeCount
}

// DefaultLimit is the default maximum number of states to visit in a search.
const DefaultLimit = 100_000

// largeCount is the default minimum number of tokens in a counter, a place whose token counts are
// stored as ranges. With fewer tokens, ranges would not pay off.
const largeCount = 256

// A Stop is the reason why a search ended.
type Stop uint8

// Reasons why a search ended.
const (
	Finished   Stop = iota // all states were visited
	StopStates             // Options.MaxStates was reached
	StopMemory             // Options.MaxBytes was reached
	StopAsked              // Options.Continue returned false
)

// An Answer is yes, no or unknown.
type Answer uint8

// Possible answers.
const (
	Unknown Answer = iota
	Yes
	No
)

func unfired(fired []bool) []int {
	return list.Indexes(fired, func(ok bool) bool { return !ok })
}

// live returns Yes if the given list of non-live transitions is empty. Otherwise, it returns No and
// the list.
func live(lost []int) (Answer, []int) {
	if len(lost) > 0 {
		return No, lost
	}
	return Yes, nil
}
