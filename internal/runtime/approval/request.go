package approval

import (
	"container/list"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A Request asks people to approve one call. Its state is managed by its [Broker].
type Request struct {
	ID  string
	Key Key
	Conditions
	Created time.Time
	Expires time.Time

	channels []string      // the configured channels that the rules allow for this request
	answered chan struct{} // closed when the request stops being pending
	unasked  chan struct{} // closed when the client reports that it did not ask anyone

	accounts [3]*account // the accounts of the session, of the principal, and of all callers together
	opened   atomic.Bool // whether the client reported that a person opened the approval page

	// The following fields are guarded by Broker.mu.
	question  Question
	progress  Progress
	open      []string      // channels that have shown the request
	waiters   int           // number of calls waiting for the answer
	shown     chan struct{} // non-nil while the session's client shows the request; closed when the client stops
	charged   int           // number of bytes charged to the accounts
	version   int64         // version in the store or, without a store, the number of changes
	parked    bool          // whether a caller was told to retry later to get the answer
	announced bool          // whether the request has been announced; see [Broker.Announce]
	claimed   bool          // whether a call is about to use the approval
	foreign   bool          // whether the request was opened by another broker
	stale     bool          // whether the store might have a newer state
	refused   bool          // whether the store has already failed once to mark the approval as used
	endedAt   time.Time

	element       *list.Element // the request's element in requests.live, requests.ended or requests.denied
	recentElement *list.Element // the request's element in requests.recent; nil if it is not in that list
}

// live reports whether the call that q is about can still run.
func (q *Request) live() bool { return isLive(q.progress.Answer.State) }

// Answered returns a Go channel that is closed when the request stops being pending.
func (q *Request) Answered() <-chan struct{} { return q.answered }

// Unasked returns a Go channel that is closed when an approval channel reports that it did not show
// the request to anyone.
func (q *Request) Unasked() <-chan struct{} { return q.unasked }

// WasUnasked reports whether an approval channel has reported that it did not show the request to
// anyone.
func (q *Request) WasUnasked() bool {
	select {
	case <-q.unasked:
		return true
	default:
		return false
	}
}

// leaveUnasked records that an approval channel did not show the request to anyone, and stops
// accepting answers through the channel. It reports whether they were accepted before. It must be
// called with Broker.mu held.
func (q *Request) leaveUnasked(channel string) bool {
	if !q.WasUnasked() {
		q.progress.Unasked = true
		close(q.unasked)
	}
	at := slices.Index(q.open, channel)
	if at < 0 {
		return false
	}
	q.open = slices.Delete(q.open, at, at+1)
	return true
}

// Allows reports whether the approval channel may show the request.
func (q *Request) Allows(channel string) bool { return slices.Contains(q.channels, channel) }

// AllowsBeside reports whether any channel other than the given ones may show the request.
func (q *Request) AllowsBeside(channels ...string) bool {
	return slices.ContainsFunc(q.channels, func(c string) bool { return !slices.Contains(channels, c) })
}

// MarkOpened records that a person has opened the page that the client was told to show.
func (q *Request) MarkOpened() { q.opened.Store(true) }

// WasOpened reports whether a person has opened the page that the client was told to show.
func (q *Request) WasOpened() bool { return q.opened.Load() }

// needs returns the number of different people who must approve.
func needs(ask *gate.Ask) int {
	n := 1
	for _, s := range ask.Steps {
		n = max(n, s.Approvals)
	}
	return n
}

// viaOf returns the only channel that the rules allow for answering, or "" if they allow any
// channel. If the rules contradict each other, it returns an error.
func viaOf(ask *gate.Ask) (string, error) {
	via := ""
	for _, s := range ask.Steps {
		switch {
		case s.Via == "" || s.Via == via:
		case via == "":
			via = s.Via
		default:
			return "", fmt.Errorf("its rules require both via %s and via %s: one answer cannot come through both", via, s.Via)
		}
	}
	return via, nil
}

// trimmed returns a copy of q's question without its long parts, to keep after the request has
// ended. The copy does not keep the client's message in memory.
func (q *Request) trimmed() Question {
	c, since := q.question.Call, q.question.Since
	c.Meta, c.SeenMeta, c.exact, c.given = c.ShownMeta(), nil, nil, 0 // keep only the displayed parts, because the call will not be forwarded
	if since.size() > maxKept {
		since = nil
	}
	c.Dropped = q.Size > maxKept
	if c.Dropped {
		c.Arguments, c.Beside, c.Meta = nil, nil, nil
		c.Client = clip(c.Client, maxKept)
	} else {
		c.Arguments, c.Beside, c.Meta = slices.Clone(c.Arguments), slices.Clone(c.Beside), slices.Clone(c.Meta)
	}
	steps := make([]gate.Step, len(q.question.Steps))
	for i, s := range q.question.Steps {
		s.Name, s.Reason = clip(s.Name, maxKept), clip(s.Reason, maxKept)
		steps[i] = s
	}
	return Question{c, steps, since}
}
