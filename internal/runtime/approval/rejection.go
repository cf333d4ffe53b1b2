package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// Why an answer does not count that was given where its request was put.
const (
	TooLate = "late" // another one was faster, or the request has ended
	OwnCall = "own"  // whoever has asked approves

	WrongPIN = "pin" // the person has not typed the PIN of the proxy
)

const maxRejections = 20 // that are kept of one request

// A Rejection is an answer that does not count. It changes nothing but the history of its
// request.
type Rejection struct {
	Kind    string
	Approve bool
	Channel string
	Actor   string
	Reason  string `json:",omitempty"`
	At      time.Time
}

// A RejectedError is the error of an answer that does not count and is to go on record.
type RejectedError struct {
	Rejection Rejection
	Record    Record // of the request
}

// Error says why the answer does not count.
func (e *RejectedError) Error() string {
	r := e.Record.Request
	if e.Rejection.Kind == OwnCall {
		return fmt.Sprintf("approval %s is of a call by %s, who cannot approve it as well: somebody else has to, or deny it (approval.self: true permits it)", r.ID, text.Escape(e.Record.Call.Principal))
	}
	return fmt.Sprintf("approval %s is %s already", r.ID, e.Record.Answer.State.Word())
}

// rejection returns what is to be kept of an answer that does not count; nil: nothing is. It
// requires the lock of the broker.
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

// isOwn reports whether the person has the name of the principal whose call it is, or is said
// to be that principal.
func (o *Options) isOwn(q *Request, person, actor string) bool {
	principal := q.question.Call.Principal
	own := named(principal)
	for _, name := range []string{actor, person} {
		said, known := o.People[name]
		if name != "" && (known && said == principal || own != "" && (name == own || name == principal)) {
			return true
		}
	}
	return false
}

// named is the name of a principal who has proven it: of a token that has one, or the subject of
// a JWT. It is empty for all others, such as whoever speaks over stdio.
func named(principal string) string {
	if name, ok := strings.CutPrefix(principal, "token:"); ok {
		return name
	}
	if issuer, subject, _ := strings.Cut(principal, "#"); strings.Contains(issuer, "://") {
		return subject
	}
	return ""
}

// reject returns q with an answer in its history that does not count, and false where that is
// full.
func (q *Request) reject(r Rejection) (d Progress, ok bool) {
	d = q.progress
	if ok = len(d.Rejections) < maxRejections; ok {
		d.Rejections = append(slices.Clone(d.Rejections), r)
	}
	return d, ok
}
