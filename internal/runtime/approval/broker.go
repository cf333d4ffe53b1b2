package approval

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Broker manages approval requests. It ensures, under its lock, that each approval is used only
// once. It limits the number of requests and the memory they use, per session, per principal and in
// total. It is safe for concurrent use.
type Broker struct {
	options Options
	grants  Grants
	storage *storage // accesses the store; nil if the broker has no store

	reading sync.Mutex // held while parsing a large call

	mu       sync.Mutex
	requests requests
}

// New returns a broker without requests.
func New(o Options) *Broker {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	b := &Broker{options: o}
	b.requests = requests{options: &b.options, byID: map[string]*Request{}, byKey: map[Key]*Request{}, accounts: accounts{}}
	b.grants.store, b.grants.now, b.grants.byID = o.Store, o.Now, map[string]*Grant{}
	if o.Store != nil {
		b.storage = &storage{b, o.Store, o.Log}
	}
	return b
}

// Open returns the pending or answered request for key, or opens a new one. The caller must call
// Release when it has stopped waiting for the answer.
func (b *Broker) Open(key Key, call Call, ask *gate.Ask) (*Request, error) {
	q, err := b.open(key, call, ask)
	if err == nil {
		b.notifyGranted(q)
	}
	return q, err
}

// notifyGranted calls Options.Granted if q was approved by a grant and has not been announced yet.
func (b *Broker) notifyGranted(q *Request) {
	b.mu.Lock()
	r, first := q.record(), q.progress.Answer.Grant != "" && !q.announced
	q.announced = q.announced || first
	b.mu.Unlock()
	if first && b.options.Granted != nil {
		b.options.Granted(r)
	}
}

func (b *Broker) open(key Key, call Call, ask *gate.Ask) (*Request, error) {
	if !b.hasRequest(key) {
		call = b.present(call)
	}
	if b.storage != nil {
		return b.storage.open(key, call, ask)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	q, err := b.requests.open(key, call, ask)
	if err == nil && b.requests.byID[q.ID] == nil {
		d, _ := b.grants.draft(q) // without a store, draft cannot fail
		b.requests.insert(q)
		b.requests.apply(q, d, q.version+1)
	}
	return q, err
}

// present returns the call in its displayed form. Parsing a large call takes additional memory, so
// only one large call is parsed at a time.
func (b *Broker) present(c Call) Call {
	if len(c.Arguments)+len(c.Beside)+len(c.Meta) > large {
		b.reading.Lock()
		defer b.reading.Unlock()
	}
	return b.options.Mask.present(c)
}

// large is the maximum size in bytes of a call that can be parsed concurrently with others.
const large = 256 << 10

// hasRequest reports whether a new call with the given key would join an existing request.
func (b *Broker) hasRequest(key Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests.known(key) != nil
}

// join adds the call to the request in force for the key, and returns this request and true. If no
// request is in force, it returns a new one that is not stored yet, and false.
func (b *Broker) join(key Key, call Call, ask *gate.Ask) (q *Request, joins bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q, err = b.requests.open(key, call, ask); err != nil {
		return nil, false, err
	}
	return q, b.requests.byID[q.ID] != nil, nil
}

// addStored adds the new request q to the table after the store has accepted it, and returns q. If
// the broker has meanwhile read the request from the store, the table already contains it. In that
// case, addStored adds the waiting call to the request in the table and returns that request.
func (b *Broker) addStored(q *Request, d Progress, version int64) *Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.requests.byID[q.ID]; known != nil {
		b.requests.reclaim(known)
		known.waiters++
		b.requests.accounts.recharge(known)
		return known
	}
	b.requests.insert(q)
	b.requests.apply(q, d, version)
	return q
}

// Refresh reads the requests and answers of other brokers from the store. Call it periodically, and
// whenever the store might have changed.
func (b *Broker) Refresh(ctx context.Context) {
	if b.storage != nil {
		b.storage.refresh(ctx, b.options.Now().Add(-max(b.options.Expire, b.options.Cooldown)))
	}
}

// learn updates the broker with rows read from the store. It returns the rows that have expired but
// are stored as pending or approved. Unless ended is true, it does not add requests that are no
// longer in force.
func (b *Broker) learn(rows []backend.Approval, ended bool) (over []backend.Approval) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.options.Now()
	for _, row := range rows {
		if isLive(State(row.State)) && !now.Before(row.Expires) {
			over = append(over, row)
		}
		if isGrant(row) {
			if err := b.grants.learn(row); err != nil {
				b.options.Log.Error("skipped a grant", "error", err)
			}
			continue
		}
		if err := b.requests.learn(row, ended, now); err != nil {
			b.options.Log.Error("skipped an approval", "error", err)
		}
	}
	return over
}

// An amendment computes the new progress of a request, or returns false to leave the request
// unchanged. Its argument is nil if the broker does not know the request. It must be called with
// Broker.mu held.
type amendment func(*Request) (d Progress, ok bool, err error)

// amend changes the request with the given ID. If the broker has a store, the change takes effect
// only once the store has accepted it.
func (b *Broker) amend(id string, f amendment) error {
	if b.storage != nil {
		return b.storage.amend(id, f)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	q := b.requests.byID[id]
	d, ok, err := f(q)
	if err == nil && ok {
		b.requests.apply(q, d, q.version+1)
	}
	return err
}

// draft computes a change to the request with the given ID, and the resulting row to store, but
// does not apply the change.
func (b *Broker) draft(id string, f amendment) (q *Request, d Progress, row backend.Approval, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	q = b.requests.byID[id]
	if d, ok, err = f(q); err == nil && ok {
		row, err = q.row(d)
	}
	return q, d, row, ok, err
}

// accept applies to q a change that the store has accepted.
func (b *Broker) accept(q *Request, d Progress, version int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.apply(q, d, version)
}

// has reports whether the broker has the request with the given ID.
func (b *Broker) has(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests.byID[id] != nil
}

// Release tells the broker that a call has stopped waiting for q. If parked is true, the caller was
// told to call again for the answer. Once no call is waiting for a pending request, the request is
// withdrawn. It is not withdrawn if a caller was told to call again, if another broker opened it,
// or if calls at another broker wait for it.
func (b *Broker) Release(q *Request, parked bool) {
	b.mu.Lock()
	q.waiters--
	q.parked = q.parked || parked
	b.requests.accounts.recharge(q)
	b.mu.Unlock()
	b.withdraw(q, func() bool { return q.waiters == 0 && !q.parked && !q.progress.Shared })
}

// withdraw withdraws q if it is pending and the function due returns true. It calls due with
// Broker.mu held. If the store fails, withdraw logs the error, and q stays pending until it is
// answered or expires.
func (b *Broker) withdraw(q *Request, due func() bool) {
	err := b.amend(q.ID, func(q *Request) (d Progress, ok bool, err error) {
		if q == nil || q.progress.Answer.State != Pending || !due() {
			return d, false, nil
		}
		d = q.progress
		d.Answer.State = Withdrawn
		return d, true, nil
	})
	if err != nil {
		b.options.Log.Error("could not withdraw an approval", "approval", q.ID, "error", err)
	}
}

// Announce marks q as announced to people. It returns false if q was announced before, so that each
// request is announced only once.
func (b *Broker) Announce(q *Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !q.announced
	q.announced = true
	return first
}

// Put records that the channel is showing q to a person. It returns false if q cannot be answered
// through the channel. Answers through a channel count only after Put.
func (b *Broker) Put(q *Request, channel string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.Allows(channel) && !slices.Contains(q.open, channel) {
		q.open = append(q.open, channel)
	}
	return q.Allows(channel)
}

// Grant returns a grant on the terms chosen by a person who approves the request with the given ID.
// The grant is not valid until it is passed to [Grants.Add], which must be called after the answer.
func (b *Broker) Grant(id string, t Terms, channel, actor string) (*Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	q := b.requests.byID[id]
	if err := b.requests.checkAnswerable(q, id, channel); err != nil {
		return nil, err
	}
	return newGrant(q, t, min(b.options.Grants, MaxGrant), channel, actor, b.options.Now())
}

// Grants returns the broker's grants.
func (b *Broker) Grants() *Grants { return &b.grants }

// ErrUsed is returned by [Broker.Claim] if the request is not approved, or if its approval has
// become invalid.
var ErrUsed = backend.ErrUsed

// Claim reserves an approved request for a call that is about to use it. The request cannot expire
// or be claimed again until [Broker.Consume] or [Broker.Unclaim] is called.
func (b *Broker) Claim(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	q := b.requests.byID[id]
	if q == nil || q.claimed || b.requests.check(q) != Approved {
		return ErrUsed
	}
	q.claimed = true
	return nil
}

// Consume ends a claimed request after the call that claimed it was admitted.
func (b *Broker) Consume(id string) {
	b.unclaim(id, func(q *Request) { b.requests.finish(q, Consumed) })
}

// Unclaim makes a claimed request available again, because the call that claimed it was not
// admitted.
func (b *Broker) Unclaim(id string) {
	b.unclaim(id, func(q *Request) { q.stale = b.storage != nil })
}

// Used tells the broker whether the store has marked the approval of q as used. If it has, q ends.
// If it has not, the broker reads q from the store again before another call can use the approval.
// If the store fails to mark it a second time, q ends as expired. Without a store, Used does
// nothing.
func (b *Broker) Used(q *Request, ok bool) {
	if b.storage == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !q.live():
	case !ok && q.refused:
		b.requests.finish(q, Expired)
	case !ok:
		q.stale, q.refused = true, true
	case q.progress.Answer.State == Approved:
		q.version++
		b.requests.finish(q, Consumed)
	}
}

func (b *Broker) unclaim(id string, end func(*Request)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.requests.byID[id]; q != nil && q.claimed {
		q.claimed = false
		end(q)
	}
}

// Approves reports whether the client's user has approved q. This does not mean that q is approved,
// because q might need more approvers.
func (b *Broker) Approves(q *Request) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(q.progress.Approvers, approver{Client: true})
}

// Status returns q's current state and answer.
func (b *Broker) Status(q *Request) Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.check(q)
	return q.progress.Answer
}

// removeChannel records that the channel no longer shows q. It returns false if the channel was not
// showing q.
func (b *Broker) removeChannel(q *Request, channel string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(q.open, channel) && q.leaveUnasked(channel)
}

// Show reports whether the caller should show q to the client. Of the calls that share a request,
// only one shows it at a time. The returned channel is closed when that call stops showing it; the
// others can then call Show again.
func (b *Broker) Show(q *Request) (first bool, gone <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if first = q.shown == nil; first {
		q.shown = make(chan struct{})
	}
	return first, q.shown
}

// Unshow records that the client no longer shows q, because the call that showed it has ended.
func (b *Broker) Unshow(q *Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(q.shown)
	q.shown = nil
}

// Changed returns a channel that is closed when a request is next opened, answered or ended. If a
// request expires, the channel is closed only once another method examines that request.
func (b *Broker) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests.changed == nil {
		b.requests.changed = make(chan struct{})
	}
	return b.requests.changed
}

// Waiting returns the number of pending requests.
func (b *Broker) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	n := 0
	for at := b.requests.live.Front(); at != nil; at = at.Next() {
		if at.Value.(*Request).progress.Answer.State == Pending {
			n++
		}
	}
	return n
}

// Sessions returns the set of sessions that have pending or approved requests.
func (b *Broker) Sessions() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	all := map[string]bool{}
	for at := b.requests.live.Front(); at != nil; at = at.Next() {
		all[at.Value.(*Request).Key.Session] = true
	}
	return all
}

// Look returns a snapshot of the request q.
func (b *Broker) Look(q *Request) Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.check(q)
	return q.record()
}

// Find returns the request with the given ID, reading it from the store if necessary.
func (b *Broker) Find(id string) (s Record, ok bool) {
	if s, ok = b.find(id); ok || b.storage == nil || id == "" {
		return s, ok
	}
	if err := b.storage.look(id, Key{}); err != nil {
		b.options.Log.Error("looking for an approval", "approval", id, "error", err)
	}
	return b.find(id)
}

func (b *Broker) find(id string) (s Record, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	q := b.requests.byID[id]
	if q == nil {
		return Record{}, false
	}
	return q.record(), true
}

// List returns all requests, oldest first. Requests of other brokers are listed in their state at
// the last [Broker.Refresh].
func (b *Broker) List() []Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests.sweep()
	all := make([]Record, 0, len(b.requests.byID))
	for _, q := range b.requests.byID {
		all = append(all, q.record())
	}
	slices.SortFunc(all, func(x, y Record) int {
		return cmp.Or(x.Request.Created.Compare(y.Request.Created), cmp.Compare(x.Request.ID, y.Request.ID))
	})
	return all
}
