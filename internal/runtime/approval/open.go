package approval

import (
	"crypto/rand"
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// What this file does requires the lock of the broker.

// openHere joins the request that counts for key, or makes one that is not in the book
// yet.
func (b *Broker) openHere(key Key, call Call, ask *gate.Ask) (*Request, error) {
	b.sweep()
	q := b.known(key)
	if q == nil {
		return b.request(key, call, ask)
	}
	if !q.room(q.weight(q.waiters+1) - q.weighed) {
		return nil, errBytes
	}
	q.waiters++
	b.accounts.weigh(q)
	return q, nil
}

// begin puts q into the book.
func (b *Broker) begin(q *Request) {
	b.change()
	b.byID[q.ID], b.byKey[q.Key] = q, q
	if q.place = b.live.PushBack(q); q.foreign { // the list is in the order of time
		for at := q.place.Prev(); at != nil && at.Value.(*Request).Expires.After(q.Expires); at = q.place.Prev() {
			b.live.MoveBefore(q.place, at)
		}
		b.accounts.put(q, func(a *account) { a.waiting++ })
	} else {
		q.new = b.recent.PushBack(q)
		b.accounts.put(q, func(a *account) { a.waiting, a.recent = a.waiting+1, a.recent+1 })
	}
	b.accounts.weigh(q)
}

// known returns the request that counts for key now, or nil.
func (b *Broker) known(key Key) *Request {
	q := b.byKey[key]
	switch {
	case q == nil || b.check(q) == Expired:
		return nil
	case q.doubt && !q.claimed:
		return nil
	case q.progress.Answer.State == Denied && !b.options.Now().Before(q.progress.Stands):
		delete(b.byKey, key)
		return nil
	}
	return q
}

// request makes a new request if its session, its principal and the broker have
// room for it.
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
	b.allow(q)
	if q.Needs > 1 && !q.AllowsBeside(Elicit) {
		return nil, fmt.Errorf("its rules require %d different persons, and only the one at the client can be asked", q.Needs)
	}
	return q, nil
}

// allow notes by which channels q may be answered, and that operators see every request of
// the broker.
func (b *Broker) allow(q *Request) {
	for _, channel := range b.options.Channels {
		if q.Via == "" || q.Via == channel {
			q.channels = append(q.channels, channel)
			if listed(channel) {
				q.open = append(q.open, channel)
			}
		}
	}
}

// newID returns an id that is short enough to type and too random to be guessed
// while the request is pending.
func newID(known map[string]*Request) string {
	for {
		if id := "ap_" + rand.Text()[:8]; known[id] == nil {
			return id
		}
	}
}
