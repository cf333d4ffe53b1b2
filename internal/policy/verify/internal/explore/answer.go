package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Result tells whether an assertion was proved, refuted or neither.
type Result uint8

const (
	Unknown Result = iota
	Proved
	Refuted
)

// String returns the result as printed by "check --json".
func (r Result) String() string { return [...]string{"unknown", "proved", "refuted"}[r] }

// Reasons for an unknown answer.
const (
	WhyDoubtful = "no known arguments match the maps in the way that this requires"
	WhyStates   = "there are more states than were explored"
	WhyTime     = callclass.WhyTime
	WhyLong     = "it takes more calls than were tried"
	WhyValues   = "it depends on the values of keys"
	WhyNoRun    = "a run could not be built from the states that were found"
)

// An Answer holds the result of a search, together with a proof, a counterexample, or the reason
// why the result is unknown.
type Answer struct {
	Result   Result // Proved if the query is never met or the goal is always reachable, Refuted if Moves is a counterexample
	Moves    []Move
	Nets     []int  // if a query is Proved, nets that suffice for the proof; if [Space.FindLock] returned Refuted, nets that make the goal unreachable after Moves
	Rough    bool   // if Refuted for a goal, whether some elements of Nets might be unnecessary
	Why      string // if Unknown, why the answer is unknown
	Supposed string // if Unknown because a tool might not exist, the name of that tool
}

// leaveOut returns the nets that remain after removing unnecessary ones. A net is unnecessary if
// search returns Proved without it. sure is false if search ever returned Unknown, because further
// nets might then be unnecessary.
func leaveOut(nets []int, search func(fewer []int) Result) (left []int, sure bool) {
	left, sure = slices.Clone(nets), true
	for i := 0; i < len(left); {
		fewer := slices.Delete(slices.Clone(left), i, i+1)
		result := search(fewer)
		if result == Proved {
			left = fewer
			continue
		}
		sure = sure && result == Refuted
		i++
	}
	return left, sure
}

// anyClass returns true for every class.
func anyClass(*callclass.Class) bool { return true }

// Tagger returns a function that tags the classes accepted by match as [Wanted].
func Tagger(match func(*callclass.Class) bool) func(*callclass.Class) uint8 {
	return func(s *callclass.Class) uint8 {
		if match(s) {
			return Wanted
		}
		return 0
	}
}

// StopReason returns the reason why a search ended early: the time limit or the limit on states.
func (l *searchLimits) StopReason() string {
	if l.Stop() {
		return WhyTime
	}
	return WhyStates
}
