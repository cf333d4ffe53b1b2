package approval

import (
	"container/list"
	"slices"
	"time"
)

// The functions in this file must be called with Broker.mu held.

// sweep ends the requests that have expired and removes the requests that ended long ago. It relies
// on the order of the lists and does not look at all requests.
func (t *requests) sweep() {
	now := t.options.Now()
	for q := front(&t.recent); q != nil && !now.Before(q.Created.Add(recently)); q = front(&t.recent) {
		t.uncountRecent(q)
	}
	for q := front(&t.live); q != nil && !q.claimed && !now.Before(q.Expires); q = front(&t.live) {
		t.finish(q, Expired)
	}
	keep := max(t.options.Expire, t.options.Cooldown)
	for _, ended := range []*list.List{&t.ended, &t.denied} {
		for q := front(ended); q != nil && now.After(q.endedAt.Add(keep)); q = front(ended) {
			t.forget(q)
		}
	}
}

func front(l *list.List) *Request {
	if l.Len() == 0 {
		return nil
	}
	return l.Front().Value.(*Request)
}

// check ends q if it has expired, and returns q's state. Unlike sweep, it is reliable even after
// the clock was set back.
func (t *requests) check(q *Request) State {
	if q.live() && !q.claimed && !t.options.Now().Before(q.Expires) {
		t.finish(q, Expired)
	}
	return q.progress.Answer.State
}

// uncountRecent stops counting q among the unapproved requests of the last minute.
func (t *requests) uncountRecent(q *Request) {
	if q.recentElement != nil {
		t.recent.Remove(q.recentElement)
		q.recentElement = nil
		t.accounts.update(q, func(a *account) { a.recent-- })
	}
}

// notifyChanged closes the channel returned by [Broker.Changed].
func (t *requests) notifyChanged() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// wake wakes all calls that are waiting for an answer to q, which is now in state s.
func (t *requests) wake(q *Request, s State) {
	close(q.answered)
	if t.options.Answered != nil && !q.foreign { // each request is counted only by the broker that opened it
		t.options.Answered(string(s), q.progress.Answer.Channel, t.options.Now().Sub(q.Created))
	}
}

// finish ends q in state s and keeps only the displayed parts of its call. A denied request also
// denies identical calls while the denial stays in force.
func (t *requests) finish(q *Request, s State) {
	t.notifyChanged()
	if q.progress.Answer.State == Pending {
		t.wake(q, s)
	}
	if s == Consumed || s == Withdrawn && len(q.open) == 0 && !q.WasUnasked() { // requests that were used, or withdrawn unseen, do not count toward the limit on recent requests
		t.uncountRecent(q)
	}
	now := t.options.Now()
	q.progress.Answer.State, q.endedAt = s, now
	t.accounts.recharge(q)
	q.question = q.trimmed()
	t.live.Remove(q.element)
	if s == Denied {
		q.element = t.denied.PushBack(q)
		t.accounts.update(q, func(a *account) { a.waiting, a.denied = a.waiting-1, a.denied+1 })
		q.progress.Stands = t.standsUntil(q)
		return
	}
	if t.byKey[q.Key] == q {
		delete(t.byKey, q.Key)
	}
	q.element = t.ended.PushBack(q)
	principal := q.accounts[1]
	t.accounts.update(q, func(a *account) {
		if a.waiting--; a == principal {
			a.ended = append(a.ended, q)
		}
	})
	if len(principal.ended) > maxEnded {
		t.forget(principal.ended[0])
	}
	if t.ended.Len() > maxEndedAll {
		t.forget(front(&t.ended))
	}
}

// forget removes the ended request q from the table.
func (t *requests) forget(q *Request) {
	delete(t.byID, q.ID)
	if t.byKey[q.Key] == q {
		delete(t.byKey, q.Key)
	}
	if q.progress.Answer.State == Denied {
		t.denied.Remove(q.element)
		t.accounts.update(q, func(a *account) { a.denied-- })
		return
	}
	t.ended.Remove(q.element)
	t.accounts.update(q, func(a *account) {
		if a == q.accounts[1] {
			a.ended = slices.DeleteFunc(a.ended, func(o *Request) bool { return o == q })
		}
	})
}

// standsUntil returns the time when a denial of q would end if q were denied now.
func (t *requests) standsUntil(q *Request) time.Time {
	until := t.options.Now().Add(t.options.Cooldown)
	if q.waiters == 0 && q.Expires.After(until) {
		return q.Expires // no call is waiting for the answer, so keep the denial for a caller that retries before q expires
	}
	return until
}
