package approval

import (
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// A Record is a snapshot of a request.
type Record struct {
	Request *Request
	Question
	Open []string // channels that have shown the request
	Progress
}

// A RejectedError reports an answer that was rejected and must be recorded.
type RejectedError struct {
	Rejection Rejection
	Record    Record // snapshot of the request at the time of the rejection
}

// Error returns the reason why the answer was rejected.
func (e *RejectedError) Error() string {
	r := e.Record.Request
	if e.Rejection.Kind == OwnCall {
		return fmt.Sprintf("approval %s is for a call by %s, who cannot approve it: another person must answer (approval.self: true allows it)", r.ID, text.Escape(e.Record.Call.Principal))
	}
	return fmt.Sprintf("approval %s is already %s", r.ID, e.Record.Answer.State.Word())
}

func (q *Request) record() Record {
	return Record{q, q.question, slices.Clone(q.open), q.progress}
}

// Reasons for rejecting an answer to a request that a person has seen.
const (
	TooLate = "late" // the request has already been answered or has ended
	OwnCall = "own"  // the caller tried to approve its own call

	WrongPIN = "pin" // the person did not enter the proxy's PIN correctly
)

const maxRejections = 20 // maximum number of rejected answers kept per request

// A Rejection is an answer that was rejected. It remains visible only in the history of its
// request.
type Rejection struct {
	Kind    string
	Approve bool
	Channel string
	Actor   string
	Reason  string `json:",omitempty"`
	At      time.Time
}
