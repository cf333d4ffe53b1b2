package approval

import (
	"container/list"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
)

const (
	maxKept   = 1 << 10 // bytes of a call that are kept when its request has ended
	maxReason = 1 << 10 // bytes of what a person says to an answer

	recently = time.Minute // that limit.recent is about
)

// sweep ends what is past its time, and forgets what ended long ago. It looks at
// no request that neither is to happen to.
func (b *Broker) sweep() {
	now := b.options.Now()
	for q := oldest(&b.recent); q != nil && !now.Before(q.Created.Add(recently)); q = oldest(&b.recent) {
		b.settleDown(q)
	}
	for q := oldest(&b.live); q != nil && !q.claimed && !now.Before(q.Expires); q = oldest(&b.live) {
		b.finish(q, Expired)
	}
	keep := max(b.options.Expire, b.options.Cooldown)
	for _, ended := range []*list.List{&b.ended, &b.denied} {
		for q := oldest(ended); q != nil && now.After(q.endedAt.Add(keep)); q = oldest(ended) {
			b.forget(q)
		}
	}
}

func oldest(l *list.List) *Request {
	if l.Len() == 0 {
		return nil
	}
	return l.Front().Value.(*Request)
}

// check is the state of q. One past its time ends, also where the clock was set
// back since another request was opened.
func (b *Broker) check(q *Request) State {
	if q.live() && !q.claimed && !b.options.Now().Before(q.Expires) {
		b.finish(q, Expired)
	}
	return q.progress.Answer.State
}

// settleDown notes that q is none any more of those that people were asked in vain
// lately.
func (b *Broker) settleDown(q *Request) {
	if q.new != nil {
		b.recent.Remove(q.new)
		q.new = nil
		b.accounts.put(q, func(a *account) { a.recent-- })
	}
}

// change tells who waits for one that a request has changed.
func (b *Broker) change() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// wake ends the wait for an answer to q.
func (b *Broker) wake(q *Request, s State) {
	close(q.answered)
	if b.options.Answered != nil && !q.foreign { // it counts once
		b.options.Answered(string(s), q.progress.Answer.Channel, b.options.Now().Sub(q.Created))
	}
}

// finish puts q into a final state. Nobody can run its call any more, so that
// only what people are to look at is kept of it. A denial stands for the call
// that comes again.
func (b *Broker) finish(q *Request, s State) {
	b.change()
	if q.progress.Answer.State == Pending {
		b.wake(q, s)
	}
	if s == Consumed || s == Withdrawn && len(q.open) == 0 && !q.WasUnasked() { // who was asked said yes; or nobody was
		b.settleDown(q)
	}
	now := b.options.Now()
	q.progress.Answer.State, q.endedAt = s, now
	b.accounts.weigh(q)
	q.trim()
	b.live.Remove(q.place)
	if s == Denied {
		q.place = b.denied.PushBack(q)
		b.accounts.put(q, func(a *account) { a.waiting, a.denied = a.waiting-1, a.denied+1 })
		q.progress.Stands = b.standsUntil(q)
		return
	}
	if b.byKey[q.Key] == q {
		delete(b.byKey, q.Key)
	}
	q.place = b.ended.PushBack(q)
	principal := q.accounts[1]
	b.accounts.put(q, func(a *account) {
		if a.waiting--; a == principal {
			q.own = a.ended.PushBack(q)
		}
	})
	if principal.ended.Len() > maxEnded {
		b.forget(oldest(&principal.ended))
	}
	if b.ended.Len() > maxEndedAll {
		b.forget(oldest(&b.ended))
	}
}

// forget drops a request that has ended.
func (b *Broker) forget(q *Request) {
	delete(b.byID, q.ID)
	if b.byKey[q.Key] == q {
		delete(b.byKey, q.Key)
	}
	if q.progress.Answer.State == Denied {
		b.denied.Remove(q.place)
		b.accounts.put(q, func(a *account) { a.denied-- })
		return
	}
	b.ended.Remove(q.place)
	b.accounts.put(q, func(a *account) {
		if a == q.accounts[1] {
			a.ended.Remove(q.own)
		}
	})
}

// trim drops what is long of a call that cannot run any more. The rest is
// copied: it may be a part of a message that was longer.
func (q *Request) trim() { q.question = q.trimmed() }

func (q *Request) trimmed() Question {
	c, since := q.question.Call, q.question.Since
	c.Meta, c.SeenMeta, c.exact, c.given = c.ShownMeta(), nil, nil, 0 // nothing is forwarded any more
	if since.bytes() > maxKept {
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

// clip is s, or where that is longer than n bytes, its beginning with how long
// it is.
func clip(s string, n int) string {
	if len(s) <= n {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:n], "") + fmt.Sprintf("... (%d bytes)", len(s))
}
