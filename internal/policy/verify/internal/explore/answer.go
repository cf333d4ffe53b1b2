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

// An Answer holds the result of a search, with the evidence for it.
type Answer struct {
	Result   Result // if Proved, the query is never met or the goal is always reachable; if Refuted, Moves is the counterexample
	Moves    []Move
	Nets     []int  // if Proved, nets that suffice for the proof; if a goal is Refuted, nets that forbid the goal after Moves
	Rough    bool   // if a goal is Refuted, whether some of Nets might not be needed; set if not all subsets were tried
	Why      string // if Unknown, why the answer is unknown
	Supposed string // if Unknown, the tool whose existence decides the answer, if any
}

// leaveOut removes nets one by one, as long as the function search returns Proved for the remaining
// nets. sure is true if, for each remaining net, search returned Refuted without this net.
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
