package gate

import (
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
)

// An End describes how a call ended.
type End struct {
	Outcome Outcome

	// Time is the time when the call ended. If it is zero, a clock whose tokens the outcome changes
	// restarts, and thus ticks late rather than early.
	Time time.Time

	// Result is the result of a success, one JSON value; nil: unknown. A result that is longer than
	// a megabyte, or that JSON parsers might read differently, counts as unknown. See
	// [Policy.ReadsResults].
	Result []byte

	// Text is the text of the result of a success, for [Policy.Judged].
	Text string

	// Broken is the condition that made [Policy.Judged] turn a success into a failure, or nil.
	Broken *Condition

	// All means that all calls that this call represents have ended in the same way, as an operator
	// has found out. See [OpenCall.More].
	All bool
}

// A PreparedEnd is an end whose result has already been parsed for the nets of the policy, before a
// state is locked. It must not be used by several goroutines at once.
type PreparedEnd struct {
	policy  *Policy
	end     End
	carrier *keyvalue.CallReader // nil: no key is in the result
}

// PrepareEnd reads the result of a call that has ended.
func (p *Policy) PrepareEnd(e End) PreparedEnd {
	q := PreparedEnd{policy: p, end: e}
	if e.Outcome != Success || !p.results {
		q.end.Result = nil
		return q
	}
	if !keyvalue.Readable(e.Result) {
		q.end.Result = nil
	}
	q.carrier = &keyvalue.CallReader{Set: &p.keys, Result: q.end.Result}
	q.carrier.ReadResult()
	return q
}
