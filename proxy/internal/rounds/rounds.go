// Package rounds keeps calls between two rounds where other processes have them too, so that
// the client may go on at any of them, at one.
package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Store keeps data that is taken once.
type Store interface {
	// KeepRound keeps data under the id.
	KeepRound(ctx context.Context, id string, data []byte) error

	// TakeRound takes what is kept; nil: nothing is. The call goes on by it, so that the
	// error is [admission.ErrStopped] while the session is stopped.
	TakeRound(ctx context.Context, session, id string) ([]byte, error)

	// DropRound takes what is kept, to end the call.
	DropRound(ctx context.Context, id string) ([]byte, error)

	// KeptRounds is all that is kept, by id.
	KeptRounds(ctx context.Context) iter.Seq2[string, []byte]
}

// A Round is a call that has passed the gate and waits for its client.
type Round struct {
	Ticket   *admission.Ticket `json:"ticket"`
	Approved *Approved         `json:"approved,omitempty"` // nil: no person was asked
	Expires  time.Time         `json:"expires"`
	Subject  string            `json:"subject"` // the very call, by its hash; see [Keeper.Keep]
}

// Approved is what a person approved besides the arguments of a call; it is kept for later
// rounds.
type Approved struct {
	Beside string `json:"beside"`         // hash of the members of params
	Meta   []byte `json:"meta,omitempty"` // nil: nothing, or more than is kept; then nothing of it is sent again
}

// maxKept bounds the calls in the store whose clients have not come back.
const maxKept = 10_000

// ErrFull is the error of a round too many, of one principal or of all.
var ErrFull = errors.New("too many calls wait for input")

// A Keeper keeps rounds in a store.
type Keeper struct {
	store     Store
	admission *admission.Admission
	life      *lifetime.Lifetime
	swept     atomic.Int64 // when old ones were looked for last, in seconds
	room      room
}

// room counts what is kept, as of the last sweep and as this process has changed it since.
type room struct {
	limit int
	mu    sync.Mutex
	total int
	held  map[string]int // by principal
}

func (m *room) take(principal string, several bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.total >= m.limit || several && !session.Fair(m.held[principal], m.limit-m.total) {
		return false
	}
	if m.held == nil {
		m.held = map[string]int{}
	}
	m.held[principal]++
	m.total++
	return true
}

func (m *room) give(principal string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[principal] > 0 { // else another process has kept it since the last sweep
		m.held[principal]--
		m.total--
	}
}

// set says what there is.
func (m *room) set(held map[string]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held, m.total = held, 0
	for _, n := range held {
		m.total += n
	}
}

// New returns a keeper that settles what is over by a.
func New(s Store, a *admission.Admission, l *lifetime.Lifetime) *Keeper {
	return &Keeper{store: s, admission: a, life: l, room: room{limit: maxKept}}
}

// Keep keeps a round of the subject. Its error is [ErrFull] where there is no room for it,
// if there are several principals no fair share.
func (k *Keeper) Keep(id string, subject []byte, several bool, r Round) error {
	r.Subject = wire.Digest(subject)
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	principal := r.Ticket.Key().Principal
	if !k.room.take(principal, several) {
		return ErrFull
	}
	err = k.store.KeepRound(context.WithoutCancel(k.life.Ctx), id, data) // also while the proxy ends
	if err != nil {
		k.room.give(principal)
	}
	return err
}

// Take takes the round of the subject, to go on with it; nil: another process has, or it is
// over. With an error it stays as it was.
func (k *Keeper) Take(of admission.Key, id string, subject []byte) (*Round, error) {
	data, err := k.store.TakeRound(k.life.Ctx, of.Session, id)
	if err != nil || data == nil {
		return nil, err
	}
	k.room.give(of.Principal)
	var r Round
	if err := json.Unmarshal(data, &r); err != nil || r.Ticket.Key() != of || r.Subject != wire.Digest(subject) {
		k.life.Log.Error("a call that waited for input is not as it was kept: its outcome stays unknown", "session", of.Session, "round", id)
		return nil, nil
	}
	return &r, nil
}

const (
	sweepEvery = time.Minute // how often calls are looked for whose clients did not come back
	sweepGrace = time.Minute // by which clocks may differ
)

// EndOld settles calls whose clients have not come back in time. It looks for them once a
// minute.
func (k *Keeper) EndOld(ctx context.Context) {
	now, last := k.life.Now(), k.swept.Load()
	if now.Unix()-last < int64(sweepEvery/time.Second) || !k.swept.CompareAndSwap(last, now.Unix()) {
		return
	}
	held := map[string]int{}
	defer func() { k.room.set(held) }()
	for id, data := range k.store.KeptRounds(ctx) {
		var r Round
		if err := json.Unmarshal(data, &r); err == nil && r.Ticket != nil && now.Before(r.Expires.Add(sweepGrace)) {
			held[r.Ticket.Key().Principal]++
			continue
		}
		if data, err := k.store.DropRound(ctx, id); err != nil || data == nil || r.Ticket == nil {
			continue
		}
		k.life.Log.Info("the client did not come back with what it was asked for", "session", r.Ticket.Key().Session, "call", r.Ticket.Number)
		k.admission.Settle(ctx, r.Ticket, gate.End{Outcome: gate.Failure}, "no input")
	}
}
