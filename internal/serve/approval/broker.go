package approval

import (
	"cmp"
	"container/list"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A Broker keeps every request for approval. It uses up a consent once, under its
// lock. What a session, a principal and all together have in it is bounded in
// number and in bytes.
type Broker struct {
	options Options

	mu       sync.Mutex
	byID     map[string]*Request
	byKey    map[Key]*Request // the live one, or the denial that stands
	accounts map[string]*account

	// In the order of time.
	live   list.List // pending or approved
	ended  list.List // without a denial
	denied list.List
	recent list.List // opened within the last minute, and not approved
}

// Options configures a Broker.
type Options struct {
	Expire   time.Duration // how long a request, and a consent, is valid
	Cooldown time.Duration // how long a denial stands
	Channels []string      // that are configured; answers count by these alone
	Now      func() time.Time

	// Answered is told of each request that waits no more, under the lock of the broker;
	// nil: nobody is.
	Answered func(state, channel string, waited time.Duration)
}

// New returns an empty broker.
func New(o Options) *Broker {
	return &Broker{options: o, byID: map[string]*Request{}, byKey: map[Key]*Request{}, accounts: map[string]*account{}}
}

// Open returns the request that is pending or answered for key, or opens a new
// one. The caller waits on it and must call Release.
func (b *Broker) Open(key Key, call Call, ask *gate.Ask) (*Request, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	if q := b.known(key); q != nil {
		if !q.room(q.weight(q.waiters+1) - q.weighed) {
			return nil, errBytes
		}
		q.waiters++
		b.weigh(q)
		return q, nil
	}
	q, err := b.request(key, call, ask)
	if err != nil {
		return nil, err
	}
	b.byID[q.ID], b.byKey[key] = q, q
	q.place, q.new = b.live.PushBack(q), b.recent.PushBack(q)
	b.put(q, func(a *account) { a.waiting, a.recent = a.waiting+1, a.recent+1 })
	b.weigh(q)
	return q, nil
}

// known returns the request that counts for key now, or nil.
func (b *Broker) known(key Key) *Request {
	q := b.byKey[key]
	switch {
	case q == nil || b.check(q) == Expired:
		return nil
	case q.answer.State == Denied && !b.options.Now().Before(q.stands):
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
	q := &Request{
		ID: b.newID(), Key: key, Via: via, Needs: needs(ask), Size: call.bytes(ask.Steps), Created: now, Expires: now.Add(b.options.Expire),
		call: call, steps: ask.Steps, accounts: b.accountsOf(call),
		answer: Answer{State: Pending}, waiters: 1, answered: make(chan struct{}), unasked: make(chan struct{}),
	}
	for _, a := range q.accounts {
		if err := a.full(); err != nil {
			return nil, err
		}
	}
	if !q.room(q.weight(1)) {
		return nil, errBytes
	}
	for _, channel := range b.options.Channels {
		if via == "" || via == channel {
			q.channels = append(q.channels, channel)
		}
	}
	if q.Needs > 1 && !slices.ContainsFunc(q.channels, func(c string) bool { return c != Elicit }) {
		return nil, fmt.Errorf("its rules require %d different persons, and only the one at the client can be asked", q.Needs)
	}
	if q.Allows(CLI) {
		q.open = []string{CLI} // operators see every request of the broker
	}
	return q, nil
}

// newID returns an id that is short enough to type and too random to be guessed
// while the request is pending.
func (b *Broker) newID() string {
	for {
		if id := "ap_" + rand.Text()[:8]; b.byID[id] == nil {
			return id
		}
	}
}

// Release ends one wait. A request that nobody waits for or was told to come
// back to is withdrawn.
func (b *Broker) Release(q *Request, parked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q.waiters--
	q.parked = q.parked || parked
	if q.waiters == 0 && !q.parked && q.answer.State == Pending {
		b.finish(q, Withdrawn)
	}
	b.weigh(q)
}

// Announce reports whether nobody was told yet that q waits for an answer.
func (b *Broker) Announce(q *Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !q.announced
	q.announced = true
	return first
}

// Put notes that q is put to a person by the channel, and reports false where
// it may not be. No answer counts that comes by a channel where q was not put.
func (b *Broker) Put(q *Request, channel string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Allows(channel) && !slices.Contains(q.open, channel) {
		q.open = append(q.open, channel)
	}
	return q.Allows(channel)
}

// Answer is [Broker.AnswerAs] of a person who is known by the name of the actor.
func (b *Broker) Answer(id string, approve bool, channel, actor, reason string) error {
	return b.AnswerAs(actor, id, approve, channel, actor, reason)
}

// AnswerAs notes what a person said: who it is as far as the channel proves it, which
// tells people apart, and the actor for the record. A denial stands at once, and a consent
// once as many different persons have approved as the rules require. The client's own
// answers are of one person.
//
// AnswerAs is the one door for answers of all channels: one counts only by a channel that
// is configured, that the rules of the request allow, and where this very request was put.
func (b *Broker) AnswerAs(person, id string, approve bool, channel, actor, reason string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	q := b.byID[id]
	switch {
	case q == nil:
		return fmt.Errorf("no approval %s is waiting", id)
	case b.check(q) != Pending:
		return fmt.Errorf("approval %s is %s already", id, q.answer.State)
	case q.Via != "" && q.Via != channel:
		return fmt.Errorf("approval %s is to be answered via %s only: its rule says so", id, q.Via)
	case !slices.Contains(q.open, channel):
		return fmt.Errorf("approval %s was not put to anybody where this answer comes from", id)
	}
	who := approver{person: person}
	if channel == Elicit {
		who = approver{client: true}
	}
	if approve && slices.Contains(q.approvers, who) {
		return fmt.Errorf("approval %s needs %d different persons, and this one has approved it already", id, q.Needs)
	}
	if approve && len(q.approvers) > 0 {
		actor = q.answer.Actor + ", " + actor
	}
	q.answer.Channel, q.answer.Actor, q.answer.Reason, q.answer.At = channel, actor, clip(reason, maxReason), b.options.Now()
	if !approve {
		b.finish(q, Denied)
		return nil
	}
	q.approvers = append(q.approvers, who)
	q.answer.Approvals = len(q.approvers)
	if q.answer.Approvals < q.Needs {
		return nil
	}
	q.answer.State = Approved
	b.settleDown(q)
	b.wake(q, Approved)
	return nil
}

// ErrUsed is the error of [Broker.Claim] for a request that is not a consent, or
// not any more.
var ErrUsed = errors.New("the approval was used already, or has expired")

// Claim keeps an approved request for the one call that is about to use it up:
// until [Broker.Consume] or [Broker.Unclaim] it neither expires nor can be
// claimed again.
func (b *Broker) Claim(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	q := b.byID[id]
	if q == nil || q.claimed || b.check(q) != Approved {
		return ErrUsed
	}
	q.claimed = true
	return nil
}

// Consume ends a claimed request: its call was admitted.
func (b *Broker) Consume(id string) {
	b.unclaim(id, func(q *Request) { b.finish(q, Consumed) })
}

// Unclaim gives a claimed request back: its call was not admitted.
func (b *Broker) Unclaim(id string) {
	b.unclaim(id, func(*Request) {})
}

func (b *Broker) unclaim(id string, end func(*Request)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.byID[id]; q != nil && q.claimed {
		q.claimed = false
		end(q)
	}
}

// Approves reports whether the person at the client has approved q, which waits for others.
func (b *Broker) Approves(q *Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(q.approvers, approver{client: true})
}

// Status is where q stands now.
func (b *Broker) Status(q *Request) Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.check(q)
	return q.answer
}

// MarkUnasked notes that by the channel, where q was put, nobody was shown it.
// Where no other channel is open, that ends it.
func (b *Broker) MarkUnasked(q *Request, channel string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(q.open, channel)
	if at < 0 {
		return
	}
	if !q.WasUnasked() {
		close(q.unasked)
	}
	q.open = slices.Delete(q.open, at, at+1)
	if q.answer.State == Pending && len(q.open) == 0 {
		b.finish(q, Withdrawn)
	}
}

// Show reports whether the caller is to show q to the client: calls that ask
// the same make one prompt. Who is not to may show it once gone is closed.
func (b *Broker) Show(q *Request) (first bool, gone <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first = q.shown == nil; first {
		q.shown = make(chan struct{})
	}
	return first, q.shown
}

// Unshow notes that the call whose prompt it was is gone, and the prompt with it.
func (b *Broker) Unshow(q *Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(q.shown)
	q.shown = nil
}

// Waiting returns the number of pending requests.
func (b *Broker) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	n := 0
	for at := b.live.Front(); at != nil; at = at.Next() {
		if at.Value.(*Request).answer.State == Pending {
			n++
		}
	}
	return n
}

// Look returns the present state of q.
func (b *Broker) Look(q *Request) Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.check(q)
	return q.record()
}

// Find returns the request with that id, if it is kept.
func (b *Broker) Find(id string) (s Record, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	q := b.byID[id]
	if q == nil {
		return Record{}, false
	}
	return q.record(), true
}

// List returns every request that is kept, the oldest first.
func (b *Broker) List() []Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	all := make([]Record, 0, len(b.byID))
	for _, q := range b.byID {
		all = append(all, q.record())
	}
	slices.SortFunc(all, func(x, y Record) int {
		return cmp.Or(x.Request.Created.Compare(y.Request.Created), cmp.Compare(x.Request.ID, y.Request.ID))
	})
	return all
}
