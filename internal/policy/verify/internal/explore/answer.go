package explore

// Result is the answer to an assertion.
type Result uint8

const (
	Unknown Result = iota
	Proved
	Refuted
)

// String is the result as "check --json" writes it.
func (r Result) String() string { return [...]string{"unknown", "proved", "refuted"}[r] }

// Reasons for an unknown answer.
const (
	WhyDoubtful = "no arguments are known that match the maps as this would need"
	WhyStates   = "there are more states than were looked at"
	WhyLong     = "it takes more calls than were tried"
	WhyNoRun    = "a run could not be made of the states that were found"
)

// An answer is the answer to a query about what can happen.
type answer struct {
	Result   Result // Proved: it never happens; Refuted: moves show that it does
	Moves    []Move
	Nets     []int  // Proved: nets that forbid it by themselves
	Why      string // Unknown: the reason
	Supposed string // Unknown: the tool of which it depends whether it is there
}
