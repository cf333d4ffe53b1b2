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

// A RejectedError is the error for an answer that does not count and must be recorded.
type RejectedError struct {
	Rejection Rejection
	Record    Record // the request when the answer was rejected
}

// Error returns the reason why the answer does not count.
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

// Reasons why an answer to a displayed request does not count.
const (
	TooLate = "late" // another answer came first, or the request has ended
	OwnCall = "own"  // the caller approves its own call

	WrongPIN = "pin" // the person did not enter the correct PIN of the proxy
)

const maxRejections = 20 // maximum number of rejections kept per request

// A Rejection is an answer that does not count. It appears only in its request's history.
type Rejection struct {
	Kind    string
	Approve bool
	Channel string
	Actor   string
	Reason  string `json:",omitempty"`
	At      time.Time
}
