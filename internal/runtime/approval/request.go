package approval

import (
	"container/list"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A Request asks a person to approve one call. The request's [Broker] holds its state.
type Request struct {
	ID  string
	Key Key
	Conditions
	Created time.Time
	Expires time.Time

	channels []string      // configured channels that the rules allow to answer
	answered chan struct{} // closed when the request stops being pending
	unasked  chan struct{} // closed when the client reports that it asked no person

	accounts [3]*account // accounts of the request's session, of its principal, and of all callers
	opened   atomic.Bool // the client reported that a person opened the page

	// Guarded by Broker.mu.
	question  Question
	progress  Progress
	open      []string      // channels that have shown the request
	waiters   int           // number of calls waiting for the answer
	shown     chan struct{} // non-nil while the session's client shows the request; closed afterwards
	charged   int           // bytes charged to the accounts
	version   int64         // version in the store; without a store, the number of changes
	parked    bool          // a call was told to come back for the answer
	announced bool          // the request has been announced
	claimed   bool          // a call has claimed the approval and is about to use it
	foreign   bool          // another broker opened the request
	stale     bool          // the store has a newer state
	refused   bool          // the store refused the use of the approval
	endedAt   time.Time

	element       *list.Element // element in one of the request lists
	recentElement *list.Element // element in requests.recent, or nil
}

// live reports whether q's call can still run.
func (q *Request) live() bool { return isLive(q.progress.Answer.State) }

// Answered returns a Go channel that is closed when the request stops being pending.
func (q *Request) Answered() <-chan struct{} { return q.answered }

// Unasked returns a Go channel that is closed when an approval channel reports that it showed the
// request to no person.
func (q *Request) Unasked() <-chan struct{} { return q.unasked }

// WasUnasked reports whether an approval channel has reported that it showed the request to no
// person.
func (q *Request) WasUnasked() bool {
	select {
	case <-q.unasked:
		return true
	default:
		return false
	}
}

// leaveUnasked records that a channel showed the request to no person, and removes the channel. It
// returns false if the channel did not show the request. The caller must hold Broker.mu.
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

// Allows reports whether the request may be shown through the given approval channel.
func (q *Request) Allows(channel string) bool { return slices.Contains(q.channels, channel) }

// AllowsBeside reports whether the request may be shown through a channel that is not among the
// given ones.
func (q *Request) AllowsBeside(channels ...string) bool {
	return slices.ContainsFunc(q.channels, func(c string) bool { return !slices.Contains(channels, c) })
}

// MarkOpened records that a person has opened the page that the client was told to show.
func (q *Request) MarkOpened() { q.opened.Store(true) }

// WasOpened reports whether a person has opened the page that the client was told to show.
func (q *Request) WasOpened() bool { return q.opened.Load() }

// needs returns how many different people must approve a request's steps.
func needs(ask *gate.Ask) int {
	n := 1
	for _, s := range ask.Steps {
		n = max(n, s.Approvals)
	}
	return n
}

// viaOf returns the channel that a request's steps require, or "" if any channel will do.
// Conflicting requirements are an error.
func viaOf(ask *gate.Ask) (string, error) {
	via := ""
	for _, s := range ask.Steps {
		switch {
		case s.Via == "" || s.Via == via:
		case via == "":
			via = s.Via
		default:
			return "", fmt.Errorf("its rules require both via %s and via %s: one answer cannot come by both", via, s.Via)
		}
	}
	return via, nil
}

// trimmed returns q's question without the long parts of a call that can no longer run. It copies
// the remaining parts, because they may point into a longer message.
func (q *Request) trimmed() Question {
	c, since := q.question.Call, q.question.Since
	c.Meta, c.SeenMeta, c.exact, c.given = c.ShownMeta(), nil, nil, 0 // the call will not be forwarded
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
