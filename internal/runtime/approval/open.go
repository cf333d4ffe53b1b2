package approval

import (
	"crypto/rand"
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// All functions in this file require Broker.mu.

// openHere joins the request in force for key, or returns a new one that is not inserted yet.
func (b *Broker) openHere(key Key, call Call, ask *gate.Ask) (*Request, error) {
	b.sweep()
	q := b.known(key)
	if q == nil {
		return b.request(key, call, ask)
	}
	if !q.room(q.weight(q.waiters+1) - q.charged) {
		return nil, errBytes
	}
	q.waiters++
	b.accounts.recharge(q)
	return q, nil
}

// insert adds q to the broker.
func (b *Broker) insert(q *Request) {
	b.notifyChanged()
	b.byID[q.ID], b.byKey[q.Key] = q, q
	if q.element = b.live.PushBack(q); q.foreign { // keep the list in chronological order
		for at := q.element.Prev(); at != nil && at.Value.(*Request).Expires.After(q.Expires); at = q.element.Prev() {
			b.live.MoveBefore(q.element, at)
		}
		b.accounts.update(q, func(a *account) { a.waiting++ })
	} else {
		q.recentElement = b.recent.PushBack(q)
		b.accounts.update(q, func(a *account) { a.waiting, a.recent = a.waiting+1, a.recent+1 })
	}
	b.accounts.recharge(q)
}

// known returns the request in force for key, or nil.
func (b *Broker) known(key Key) *Request {
	q := b.byKey[key]
	switch {
	case q == nil || b.check(q) == Expired:
		return nil
	case q.stale && !q.claimed:
		return nil
	case q.progress.Answer.State == Denied && !b.options.Now().Before(q.progress.Stands):
		delete(b.byKey, key)
		return nil
	}
	return q
}

// request creates a request, if the limits of the session, the principal and the broker allow it.
func (b *Broker) request(key Key, call Call, ask *gate.Ask) (*Request, error) {
	via, err := viaOf(ask)
	if err != nil {
		return nil, err
	}
	now := b.options.Now()
	call = b.options.Mask.present(call)
	q := &Request{
		ID: newID(b.byID), Key: key, Conditions: Conditions{via, needs(ask), call.bytes(ask.Steps)}, Created: now, Expires: now.Add(b.options.Expire),
		question: Question{call, ask.Steps, b.last.comparison(key, call, b.options.Mask)}, accounts: b.accounts.of(call),
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
	b.setChannels(q)
	if q.Needs > 1 && !q.AllowsBeside(Elicit) {
		return nil, fmt.Errorf("its rules require %d different persons, and only the one at the client can be asked", q.Needs)
	}
	return q, nil
}

// setChannels sets the channels that may answer q. Channels that list all requests show it from the
// beginning.
func (b *Broker) setChannels(q *Request) {
	for _, channel := range b.options.Channels {
		if q.Via == "" || q.Via == channel {
			q.channels = append(q.channels, channel)
			if listed(channel) {
				q.open = append(q.open, channel)
			}
		}
	}
}

// newID returns an ID that is short enough to type and too random to guess while the request is
// pending.
func newID(known map[string]*Request) string {
	for {
		if id := "ap_" + rand.Text()[:8]; known[id] == nil {
			return id
		}
	}
}
