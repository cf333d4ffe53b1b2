package approval

import (
	"container/list"
)

// sweep ends expired requests, and removes requests that ended long ago. It visits only requests
// that it changes. Requires b.mu.
func (b *Broker) sweep() {
	now := b.options.Now()
	for q := front(&b.recent); q != nil && !now.Before(q.Created.Add(recently)); q = front(&b.recent) {
		b.uncountRecent(q)
	}
	for q := front(&b.live); q != nil && !q.claimed && !now.Before(q.Expires); q = front(&b.live) {
		b.finish(q, Expired)
	}
	keep := max(b.options.Expire, b.options.Cooldown)
	for _, ended := range []*list.List{&b.ended, &b.denied} {
		for q := front(ended); q != nil && now.After(q.endedAt.Add(keep)); q = front(ended) {
			b.forget(q)
		}
	}
}

func front(l *list.List) *Request {
	if l.Len() == 0 {
		return nil
	}
	return l.Front().Value.(*Request)
}

// check returns the state of q, and ends q if it has expired. Unlike sweep, it is also correct if
// the clock was set back after a later request was opened.
func (b *Broker) check(q *Request) State {
	if q.live() && !q.claimed && !b.options.Now().Before(q.Expires) {
		b.finish(q, Expired)
	}
	return q.progress.Answer.State
}

// uncountRecent removes q from the recent requests that count as unanswered.
func (b *Broker) uncountRecent(q *Request) {
	if q.recentElement != nil {
		b.recent.Remove(q.recentElement)
		q.recentElement = nil
		b.accounts.update(q, func(a *account) { a.recent-- })
	}
}

// notifyChanged wakes the waiters of [Broker.Changed].
func (b *Broker) notifyChanged() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// wake ends the waits for an answer to q.
func (b *Broker) wake(q *Request, s State) {
	close(q.answered)
	if b.options.Answered != nil && !q.foreign { // count it once, at the broker that opened it
		b.options.Answered(string(s), q.progress.Answer.Channel, b.options.Now().Sub(q.Created))
	}
}

// finish moves q to a final state. Its call cannot run any more, so only the parts for display are
// kept. A denial remains in force for repeated calls.
func (b *Broker) finish(q *Request, s State) {
	b.notifyChanged()
	if q.progress.Answer.State == Pending {
		b.wake(q, s)
	}
	if s == Consumed || s == Withdrawn && len(q.open) == 0 && !q.WasUnasked() { // the approver said yes, or no person was asked
		b.uncountRecent(q)
	}
	now := b.options.Now()
	q.progress.Answer.State, q.endedAt = s, now
	b.accounts.recharge(q)
	q.trim()
	b.live.Remove(q.element)
	if s == Denied {
		q.element = b.denied.PushBack(q)
		b.accounts.update(q, func(a *account) { a.waiting, a.denied = a.waiting-1, a.denied+1 })
		q.progress.Stands = b.standsUntil(q)
		return
	}
	if b.byKey[q.Key] == q {
		delete(b.byKey, q.Key)
	}
	q.element = b.ended.PushBack(q)
	principal := q.accounts[1]
	b.accounts.update(q, func(a *account) {
		if a.waiting--; a == principal {
			q.endedElement = a.ended.PushBack(q)
		}
	})
	if principal.ended.Len() > maxEnded {
		b.forget(front(&principal.ended))
	}
	if b.ended.Len() > maxEndedAll {
		b.forget(front(&b.ended))
	}
}

// forget removes an ended request.
func (b *Broker) forget(q *Request) {
	delete(b.byID, q.ID)
	if b.byKey[q.Key] == q {
		delete(b.byKey, q.Key)
	}
	if q.progress.Answer.State == Denied {
		b.denied.Remove(q.element)
		b.accounts.update(q, func(a *account) { a.denied-- })
		return
	}
	b.ended.Remove(q.element)
	b.accounts.update(q, func(a *account) {
		if a == q.accounts[1] {
			a.ended.Remove(q.endedElement)
		}
	})
}
