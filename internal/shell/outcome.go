package shell

// An Outcome is the answer to whether a script runs a command or touches a file.
type Outcome uint8

// The outcomes. A doubt leads to Opaque.
const (
	NoMatch Outcome = iota // no part of the script indicates it
	Match                  // the script certainly does
	Opaque                 // it is uncertain whether the script does
)

// String returns "no match", "match" or "opaque".
func (o Outcome) String() string { return [...]string{"no match", "match", "opaque"}[o] }

// or combines two outcomes if one match is enough.
func (o Outcome) or(other Outcome) Outcome {
	if o == Match || other == Match {
		return Match
	}
	return max(o, other)
}

// and combines two outcomes if both must match.
func (o Outcome) and(other Outcome) Outcome {
	if o == NoMatch || other == NoMatch {
		return NoMatch
	}
	return max(o, other)
}
