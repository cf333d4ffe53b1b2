package proxy

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// maxApprovals bounds the questions that wait at one time.
const maxApprovals = 10_000

// approvalKey is what a consent is for: this very call and nothing near it.
type approvalKey struct {
	session, tool, definition, arguments, beside, policy, steps string
}

func (k approvalKey) bytes() []byte {
	return []byte(strings.Join([]string{k.session, k.tool, k.definition, k.arguments, k.beside, k.policy, k.steps}, "\x00"))
}

// ApprovalState is where a question stands.
type ApprovalState string

// The states of an approval. All but Pending and Approved are final.
const (
	Pending   ApprovalState = "pending"
	Approved  ApprovalState = "approved"
	Denied    ApprovalState = "denied"
	Expired   ApprovalState = "expired"
	Withdrawn ApprovalState = "withdrawn"
	Consumed  ApprovalState = "consumed"
)

// An approval is one question to a person and its answer.
type approval struct {
	id       string
	key      approvalKey
	call     shownCall
	ask      *gate.Ask
	via      string // the only channel by which it may be answered; empty: any
	created  time.Time
	expires  time.Time
	answered chan struct{} // closed when it leaves pending

	// Guarded by the lock of approvals.
	state   ApprovalState
	waiters int  // calls that wait for the answer
	parked  bool // a call was told to come back for the answer
	channel string
	actor   string
	reason  string
	unasked bool // the client said that it asked nobody
	shown   bool // the client of the session has it before it
}

// approvals holds every question. A consent is used up once, under its lock.
type approvals struct {
	expire time.Duration
	now    func() time.Time

	mu    sync.Mutex
	byID  map[string]*approval
	byKey map[approvalKey]*approval // the pending or approved one
}

func newApprovals(expire time.Duration, now func() time.Time) *approvals {
	return &approvals{expire: expire, now: now, byID: map[string]*approval{}, byKey: map[approvalKey]*approval{}}
}

var errTooMany = errors.New("too many approvals are waiting")

// open joins the question that waits for key, or the answer that is good for
// it, or else makes a new question. The caller waits on it and must leave it.
func (a *approvals) open(key approvalKey, call shownCall, ask *gate.Ask) (*approval, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep()
	if r := a.byKey[key]; r != nil {
		r.waiters++
		if r.state == Denied {
			delete(a.byKey, key) // told once
		}
		return r, nil
	}
	if len(a.byKey) >= maxApprovals {
		return nil, errTooMany
	}
	via, err := viaOf(ask)
	if err != nil {
		return nil, err
	}
	now := a.now()
	r := &approval{
		id: a.newID(), key: key, call: call, ask: ask, via: via, state: Pending, waiters: 1,
		created: now, expires: now.Add(a.expire), answered: make(chan struct{}),
	}
	a.byID[r.id], a.byKey[key] = r, r
	return r, nil
}

// newID is short enough to type and is not guessed in the life of a question.
func (a *approvals) newID() string {
	for {
		var b [5]byte
		if _, err := rand.Read(b[:]); err != nil {
			panic(err)
		}
		id := "ap_" + base32.StdEncoding.EncodeToString(b[:])
		if a.byID[id] == nil {
			return id
		}
	}
}

// leave ends one wait. A question that nobody waits for or was told to come
// back to is withdrawn.
func (a *approvals) leave(r *approval, parked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.waiters--
	r.parked = r.parked || parked
	if r.waiters == 0 && !r.parked && r.state == Pending {
		a.finish(r, Withdrawn)
	}
}

// answer records what a person said. The first answer stands.
func (a *approvals) answer(id string, approve bool, channel, actor, reason string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep()
	r := a.byID[id]
	switch {
	case r == nil:
		return fmt.Errorf("no approval %s is waiting", id)
	case r.state != Pending:
		return fmt.Errorf("approval %s is %s already", id, r.state)
	case !r.allows(channel):
		return fmt.Errorf("approval %s is to be answered via %s only: its rule says so", id, r.via)
	}
	r.channel, r.actor, r.reason = channel, actor, reason
	if !approve {
		a.finish(r, Denied)
		return nil
	}
	r.state = Approved
	close(r.answered)
	return nil
}

// redeem uses r up for one call: commit decides it, and r is consumed only if
// commit says that it was let through. The lock makes that one step, so that
// two calls never share a consent; commit must not wait.
func (a *approvals) redeem(r *approval, commit func() bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep()
	if r.state != Approved {
		return false
	}
	if commit() {
		a.finish(r, Consumed)
	}
	return true
}

// status is the state of r and, once it is answered, who said what.
func (a *approvals) status(r *approval) (ApprovalState, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep()
	return r.state, r.reason
}

// markUnasked notes that the client showed the question to nobody. Where no
// other channel is open, that ends it.
func (a *approvals) markUnasked(r *approval, otherChannel bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.unasked = true
	if r.state == Pending && !otherChannel {
		a.finish(r, Withdrawn)
	}
}

func (a *approvals) wasUnasked(r *approval) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return r.unasked
}

// show reports whether the caller is to show r to the client: calls that ask
// the same make one prompt.
func (a *approvals) show(r *approval) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := !r.shown
	r.shown = true
	return first
}

// unshow notes that the call whose prompt it was is gone, and the prompt with it.
func (a *approvals) unshow(r *approval) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.shown = false
}

// sweep ends what is past its time, and forgets what ended long ago.
func (a *approvals) sweep() {
	now := a.now()
	for id, r := range a.byID {
		switch {
		case now.Before(r.expires):
		case r.state == Pending || r.state == Approved:
			a.finish(r, Expired)
		case now.After(r.expires.Add(a.expire)):
			delete(a.byID, id)
		}
	}
}

// finish puts r into a final state. A denial of a parked call is kept for the
// call that comes back for the answer.
func (a *approvals) finish(r *approval, s ApprovalState) {
	if r.state == Pending {
		close(r.answered)
	}
	r.state = s
	if told := r.waiters > 0 || !r.parked; a.byKey[r.key] == r && (s != Denied || told) {
		delete(a.byKey, r.key)
	}
}

// list is every approval that is kept, oldest first.
func (a *approvals) list() []*approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep()
	all := make([]*approval, 0, len(a.byID))
	for _, r := range a.byID {
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool {
		if !all[i].created.Equal(all[j].created) {
			return all[i].created.Before(all[j].created)
		}
		return all[i].id < all[j].id
	})
	return all
}
