package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// Reasons why an answer to a displayed request does not count.
const (
	TooLate = "late" // another answer was first, or the request has ended
	OwnCall = "own"  // the caller approves its own call

	WrongPIN = "pin" // the person did not enter the PIN of the proxy
)

const maxRejections = 20 // maximum number kept per request

// A Rejection is an answer that does not count. It only appears in the history of its request.
type Rejection struct {
	Kind    string
	Approve bool
	Channel string
	Actor   string
	Reason  string `json:",omitempty"`
	At      time.Time
}

// A RejectedError is the error for an answer that does not count and must be recorded.
type RejectedError struct {
	Rejection Rejection
	Record    Record // snapshot of the request
}

// Error gives the reason why the answer does not count.
func (e *RejectedError) Error() string {
	r := e.Record.Request
	if e.Rejection.Kind == OwnCall {
		return fmt.Sprintf("approval %s is of a call by %s, who cannot approve it as well: somebody else has to, or deny it (approval.self: true permits it)", r.ID, text.Escape(e.Record.Call.Principal))
	}
	return fmt.Sprintf("approval %s is %s already", r.ID, e.Record.Answer.State.Word())
}

// rejection returns an error if the answer does not count and must be recorded, or nil. Requires
// Broker.mu.
func (o *Options) rejection(q *Request, person string, said Rejection) *RejectedError {
	switch {
	case q == nil || !slices.Contains(q.open, said.Channel):
		return nil
	case q.progress.Answer.State != Pending:
		said.Kind = TooLate
	case said.Approve && said.Channel != Elicit && !o.Self && o.isOwn(q, person, said.Actor):
		said.Kind = OwnCall
	default:
		return nil
	}
	return &RejectedError{said, q.record()}
}

// isOwn reports whether the person has the name of the calling principal, or is configured to be
// that principal.
func (o *Options) isOwn(q *Request, person, actor string) bool {
	principal := q.question.Call.Principal
	own := principalName(principal)
	for _, name := range []string{actor, person} {
		said, known := o.People[name]
		if name != "" && (known && said == principal || own != "" && (name == own || name == principal)) {
			return true
		}
	}
	return false
}

// principalName returns the proven name of a principal: the name of a token, or the subject of a
// JWT. It returns "" for all others, such as a client over stdio.
func principalName(principal string) string {
	if name, ok := strings.CutPrefix(principal, "token:"); ok {
		return name
	}
	if issuer, subject, _ := strings.Cut(principal, "#"); strings.Contains(issuer, "://") {
		return subject
	}
	return ""
}

// reject adds r to the history of q. It returns false if the history is full.
func (q *Request) reject(r Rejection) (d Progress, ok bool) {
	d = q.progress
	if ok = len(d.Rejections) < maxRejections; ok {
		d.Rejections = append(slices.Clone(d.Rejections), r)
	}
	return d, ok
}
