package approval

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Broker keeps every request for approval. It uses up a consent once, under its
// lock. What a session, a principal and all together have in it is bounded in
// number and in bytes.
type Broker struct {
	options Options
	grants  Grants
	storage *storage // nil: there is no store

	reading sync.Mutex // held while a large call is read

	mu       sync.Mutex
	byID     map[string]*Request
	byKey    map[Key]*Request // the live one, or the denial that stands
	accounts accounts

	// In the order of time.
	live   list.List // pending or approved
	ended  list.List // without a denial
	denied list.List
	recent list.List // opened within the last minute, and not approved

	last lastApproved

	changed chan struct{} // closed with the next change of a request; nil: nobody waits for it
}

// Options configures a Broker.
type Options struct {
	Expire   time.Duration // how long a request, and a consent, is valid
	Cooldown time.Duration // how long a denial stands
	Channels []string      // that are configured; answers count by these alone
	Grants   time.Duration // how long a grant is valid at most; 0: none are given
	Now      func() time.Time
	Mask     Mask // hides what people are not to see; nil: they see all

	Self   bool              // who calls may approve their own call
	People map[string]string // principals, by the names of the persons who they are

	// Answered is told of each request that waits no more, under the lock of the broker;
	// nil: nobody is.
	Answered func(state, channel string, waited time.Duration)

	// Granted is told of each request that a grant has approved as it was opened; nil: nobody is.
	Granted func(Record)

	Store Store        // keeps what is asked and answered, for other brokers too; nil: nothing does
	Log   *slog.Logger // nil: discard
}

// New returns an empty broker.
func New(o Options) *Broker {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	b := &Broker{options: o, byID: map[string]*Request{}, byKey: map[Key]*Request{}, accounts: accounts{}}
	b.grants.store, b.grants.now, b.grants.byID = o.Store, o.Now, map[string]*Grant{}
	if o.Store != nil {
		b.storage = &storage{b, o.Store, o.Log}
	}
	return b
}

// Open returns the request that is pending or answered for key, or opens a new
// one. The caller waits on it and must call Release.
func (b *Broker) Open(key Key, call Call, ask *gate.Ask) (*Request, error) {
	q, err := b.open(key, call, ask)
	if err == nil {
		b.tellGranted(q)
	}
	return q, err
}

// tellGranted tells, once, that a grant has approved q.
func (b *Broker) tellGranted(q *Request) {
	b.mu.Lock()
	r, first := q.record(), q.progress.Answer.Grant != "" && !q.announced
	q.announced = q.announced || first
	b.mu.Unlock()
	if first && b.options.Granted != nil {
		b.options.Granted(r)
	}
}

func (b *Broker) open(key Key, call Call, ask *gate.Ask) (*Request, error) {
	if !b.keeps(key) {
		call = b.present(call)
	}
	if b.storage != nil {
		return b.storage.open(key, call, ask)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	q, err := b.openHere(key, call, ask)
	if err == nil && b.byID[q.ID] == nil {
		d, _ := b.grants.draft(q) // without a store it does not fail
		b.begin(q)
		b.take(q, d, q.version+1)
	}
	return q, err
}

// present sets what people see of a call. Reading a large call needs memory beside it, so large
// calls are read one at a time.
func (b *Broker) present(c Call) Call {
	if len(c.Arguments)+len(c.Beside)+len(c.Meta) > large {
		b.reading.Lock()
		defer b.reading.Unlock()
	}
	return b.options.Mask.present(c)
}

// large is the size of a call that takes milliseconds to read.
const large = 256 << 10

// keeps reports whether a call with the key would join a request.
func (b *Broker) keeps(key Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known(key) != nil
}

// join joins the request that counts for key, or makes one, which the store does not have yet.
func (b *Broker) join(key Key, call Call, ask *gate.Ask) (q *Request, joins bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q, err = b.openHere(key, call, ask); err != nil {
		return nil, false, err
	}
	return q, b.byID[q.ID] != nil, nil
}

// own has a request be of this broker that was taken for one of another: it was read from the
// store before the broker that has opened it knew that the store has it.
func (b *Broker) own(q *Request) {
	if !q.foreign {
		return
	}
	q.foreign, q.parked, q.announced = false, false, false
	if q.progress.Answer.State == Pending {
		q.new = b.recent.PushBack(q)
		b.accounts.put(q, func(a *account) { a.recent++ })
	}
}

// enter puts a new request into the book, as the store has it.
func (b *Broker) enter(q *Request, d Progress, version int64) *Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.byID[q.ID]; known != nil { // it was read from the store meanwhile
		b.own(known)
		known.waiters++
		b.accounts.weigh(known)
		return known
	}
	b.begin(q)
	b.take(q, d, version)
	return q
}

// Refresh takes over what other brokers have asked and answered. It has to be called when
// the store may have changed, and every so often.
func (b *Broker) Refresh(ctx context.Context) {
	if b.storage != nil {
		b.storage.refresh(ctx, b.options.Now().Add(-max(b.options.Expire, b.options.Cooldown)))
	}
}

// learn takes over rows of the store, and returns those whose time is over. Requests of other
// brokers that have ended are taken over as well if ended says so.
func (b *Broker) learn(rows []backend.Approval, ended bool) (over []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.learnHere(rows, ended)
}

// An amendment says what becomes of a request, nil where it is not known. It sees the newest, under
// the lock of the broker, and reports false where nothing is to be done.
type amendment func(*Request) (d Progress, ok bool, err error)

// amend changes the request with the id. With a store it counts once the store has it.
func (b *Broker) amend(id string, f amendment) error {
	if b.storage != nil {
		return b.storage.amend(id, f)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	q := b.byID[id]
	d, ok, err := f(q)
	if err == nil && ok {
		b.take(q, d, q.version+1)
	}
	return err
}

// draft returns what the amendment makes of the request with the id, and its new row.
func (b *Broker) draft(id string, f amendment) (q *Request, d Progress, row backend.Approval, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	q = b.byID[id]
	if d, ok, err = f(q); err == nil && ok {
		row, err = q.row(d)
	}
	return q, d, row, ok, err
}

// accept has q be as the store has it.
func (b *Broker) accept(q *Request, d Progress, version int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(q, d, version)
}

// has reports whether the request with the id is kept here.
func (b *Broker) has(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byID[id] != nil
}

// Release ends one wait. A request that nobody waits for or was told to come
// back to is withdrawn.
func (b *Broker) Release(q *Request, parked bool) {
	b.mu.Lock()
	q.waiters--
	q.parked = q.parked || parked
	b.accounts.weigh(q)
	b.mu.Unlock()
	b.withdraw(q, func() bool { return q.waiters == 0 && !q.parked && !q.progress.Shared })
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

// Grant returns what a person who approves the request with the id wants to give: it is
// valid once [Grants.Add] has kept it, which is to be done after the answer.
func (b *Broker) Grant(id string, t Terms, channel, actor string) (*Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	q := b.byID[id]
	if err := b.answerable(q, id, channel); err != nil {
		return nil, err
	}
	return newGrant(q, t, min(b.options.Grants, MaxGrant), channel, actor, b.options.Now())
}

// Grants returns the grants that were given.
func (b *Broker) Grants() *Grants { return &b.grants }

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
	b.unclaim(id, func(q *Request) { q.doubt = b.storage != nil })
}

// Used notes that the store has used q up, or, where ok is false, that it says that q is
// used up or has expired: the store is asked before q counts again.
func (b *Broker) Used(q *Request, ok bool) {
	if b.storage == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !q.live():
	case !ok && q.refused: // again, after it was read anew
		b.finish(q, Expired)
	case !ok:
		q.doubt, q.refused = true, true
	case q.progress.Answer.State == Approved:
		q.version++
		b.finish(q, Consumed)
	}
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
	return slices.Contains(q.progress.Approvers, approver{Client: true})
}

// Status is where q stands now.
func (b *Broker) Status(q *Request) Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.check(q)
	return q.progress.Answer
}

// unput notes that q is put to nobody by the channel any more. It reports false where it
// was not put there.
func (b *Broker) unput(q *Request, channel string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(q.open, channel) && q.leaveUnasked(channel)
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

// Changed returns a channel that is closed with the next change of a request: one has come,
// was answered, or has ended. What is past its time is found out when somebody looks.
func (b *Broker) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

// Waiting returns the number of pending requests.
func (b *Broker) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	n := 0
	for at := b.live.Front(); at != nil; at = at.Next() {
		if at.Value.(*Request).progress.Answer.State == Pending {
			n++
		}
	}
	return n
}

// Sessions returns the sessions whose calls are pending, or approved and to come back.
func (b *Broker) Sessions() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep()
	all := map[string]bool{}
	for at := b.live.Front(); at != nil; at = at.Next() {
		all[at.Value.(*Request).Key.Session] = true
	}
	return all
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
	b.sweep()
	q := b.byID[id]
	if q == nil {
		return Record{}, false
	}
	return q.record(), true
}

// List returns every request that is kept here, the oldest first. What other brokers have
// opened is among them after a [Broker.Refresh].
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
