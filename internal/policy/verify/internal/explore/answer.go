package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Result is the answer to an assertion.
type Result uint8

const (
	Unknown Result = iota
	Proved
	Refuted
)

// String returns the result as "check --json" prints it.
func (r Result) String() string { return [...]string{"unknown", "proved", "refuted"}[r] }

// Reasons for an unknown answer.
const (
	WhyDoubtful = "no arguments are known that match the maps as this would need"
	WhyStates   = "there are more states than were explored"
	WhyTime     = callclass.WhyTime
	WhyLong     = "it takes more calls than were tried"
	WhyValues   = "it depends on the values of keys"
	WhyNoRun    = "a run could not be made of the states that were found"
)

// An Answer is the result of a search.
type Answer struct {
	Result   Result // Proved: the query is never met, or the goal is always reachable; Refuted: Moves show otherwise
	Moves    []Move
	Nets     []int  // Proved: nets that suffice for the proof; Refuted, for a goal: nets that forbid it after Moves
	Rough    bool   // Refuted, for a goal: a subset of Nets might suffice, but not all subsets were tried
	Why      string // Unknown: the reason
	Supposed string // Unknown: the tool whose existence decides the answer; empty: none
}

// leaveOut removes nets one after the other as long as do proves that the rest suffices. It is sure
// if do refutes the removal of each remaining net.
func leaveOut(nets []int, do func(fewer []int) Result) (left []int, sure bool) {
	left, sure = slices.Clone(nets), true
	for i := 0; i < len(left); {
		fewer := slices.Delete(slices.Clone(left), i, i+1)
		switch do(fewer) {
		case Proved:
			left = fewer
		case Unknown:
			sure = false
			i++
		default:
			i++
		}
	}
	return left, sure
}

// Any matches all classes.
func Any(*callclass.Class) bool { return true }

// Tagged returns a tag function that marks the classes selected by match as wanted.
func Tagged(match func(*callclass.Class) bool) func(*callclass.Class) uint8 {
	return func(s *callclass.Class) uint8 {
		if match(s) {
			return Wanted
		}
		return 0
	}
}

// Spent returns which bound ended a search: the time or the number of states.
func (l *searchLimits) Spent() string {
	if l.Stop() {
		return WhyTime
	}
	return WhyStates
}
