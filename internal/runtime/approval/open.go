package approval

import (
	"crypto/rand"
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// The functions in this file must be called with Broker.mu held.

// open adds the call to the request in force for key and returns that request. If no request is in
// force, it returns a new one that has not been inserted yet.
func (t *requests) open(key Key, call Call, ask *gate.Ask) (*Request, error) {
	t.sweep()
	q := t.known(key)
	if q == nil {
		return t.request(key, call, ask)
	}
	if !q.room(q.weight(q.waiters+1) - q.charged) {
		return nil, errBytes
	}
	q.waiters++
	t.accounts.recharge(q)
	return q, nil
}

func (t *requests) insert(q *Request) {
	t.notifyChanged()
	t.byID[q.ID], t.byKey[q.Key] = q, q
	if q.element = t.live.PushBack(q); q.foreign { // the list must stay sorted by expiry, but another broker's request can expire before those already in the list
		for at := q.element.Prev(); at != nil && at.Value.(*Request).Expires.After(q.Expires); at = q.element.Prev() {
			t.live.MoveBefore(q.element, at)
		}
		t.accounts.update(q, func(a *account) { a.waiting++ })
	} else {
		q.recentElement = t.recent.PushBack(q)
		t.accounts.update(q, func(a *account) { a.waiting, a.recent = a.waiting+1, a.recent+1 })
	}
	t.accounts.recharge(q)
}

// reclaim marks q as opened by this broker. It is needed if the broker has read its own new request
// back from the store and taken it for another broker's.
func (t *requests) reclaim(q *Request) {
	if !q.foreign {
		return
	}
	q.foreign, q.parked, q.announced = false, false, false
	if q.progress.Answer.State == Pending {
		q.recentElement = t.recent.PushBack(q)
		t.accounts.update(q, func(a *account) { a.recent++ })
	}
}

// known returns the request in force for key, or nil if no request is in force.
func (t *requests) known(key Key) *Request {
	q := t.byKey[key]
	switch {
	case q == nil || t.check(q) == Expired:
		return nil
	case q.stale && !q.claimed:
		return nil
	case q.progress.Answer.State == Denied && !t.options.Now().Before(q.progress.Stands):
		delete(t.byKey, key)
		return nil
	}
	return q
}

// request returns a new request. It returns an error if the request would exceed the limits of the
// session, the principal or the broker.
func (t *requests) request(key Key, call Call, ask *gate.Ask) (*Request, error) {
	via, err := viaOf(ask)
	if err != nil {
		return nil, err
	}
	now := t.options.Now()
	call = t.options.Mask.present(call)
	q := &Request{
		ID: newID(t.byID), Key: key, Conditions: Conditions{via, needs(ask), call.bytes(ask.Steps)}, Created: now, Expires: now.Add(t.options.Expire),
		question: Question{call, ask.Steps, t.last.comparison(key, call, t.options.Mask)}, accounts: t.accounts.charged(call),
		progress: Progress{Answer: Answer{State: Pending}}, waiters: 1, answered: make(chan struct{}), unasked: make(chan struct{}),
	}
	for _, a := range q.accounts {
		if err := a.full(); err != nil {
			return nil, err
		}
	}
	if !q.room(q.weight(1)) {
		return nil, errBytes
	}
	t.setChannels(q)
	if q.Needs > 1 && !q.AllowsBeside(Elicit) {
		return nil, fmt.Errorf("its rules require %d different people, but only the person at the client can be asked", q.Needs)
	}
	return q, nil
}

// setChannels determines the channels that may answer q. A channel that lists all requests shows q
// immediately.
func (t *requests) setChannels(q *Request) {
	for _, channel := range t.options.Channels {
		if q.Via == "" || q.Via == channel {
			q.channels = append(q.channels, channel)
			if listed(channel) {
				q.open = append(q.open, channel)
			}
		}
	}
}

// newID returns an unused ID, short enough to type but too random to guess while the request is
// pending.
func newID(known map[string]*Request) string {
	for {
		if id := "ap_" + rand.Text()[:8]; known[id] == nil {
			return id
		}
	}
}
