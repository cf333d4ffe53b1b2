// Package rounds stores calls that wait for their clients to provide input. The client can continue
// a stored call only once, but on any replica.
package rounds

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/quota"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Store holds rounds, which are calls that wait for input, in encoded form. Each round can be
// removed only once, even if several processes try to remove it.
type Store interface {
	// KeepRound stores an encoded round under the given ID.
	KeepRound(ctx context.Context, id string, data []byte) error

	// TakeRound removes and returns an encoded round, so that the call can continue. It returns nil
	// if no round has the given ID. It returns [admission.ErrStopped] if the session is stopped.
	TakeRound(ctx context.Context, session, id string) ([]byte, error)

	// DropRound removes and returns an encoded round, so that the call can be ended.
	DropRound(ctx context.Context, id string) ([]byte, error)

	// KeptRounds returns all stored rounds in encoded form, keyed by ID.
	KeptRounds(ctx context.Context) iter.Seq2[string, []byte]
}

// A Round is an admitted call that is waiting for its client to provide input.
type Round struct {
	Ticket   *admission.Ticket `json:"ticket"`
	Approved *Approved         `json:"approved,omitempty"` // nil if no person was asked
	Expires  time.Time         `json:"expires"`
	Subject  string            `json:"subject"` // hash of the call's session, method, tool and arguments, which must be the same when the client sends the call again
}

// Approved describes the params that a person has approved, except for the arguments. When the
// client sends the call again, it must not change these params. It may change _meta, but the server
// still gets the approved _meta.
type Approved struct {
	Beside string `json:"beside"`         // hash of the params other than the name, the arguments and _meta
	Meta   []byte `json:"meta,omitempty"` // the approved _meta; nil if it is empty or too large to store; the call then continues without _meta
}

// maxKept is the maximum number of stored calls.
const maxKept = 10_000

// ErrFull means that too many calls are stored, for one principal or in total.
var ErrFull = errors.New("too many calls are waiting for input")

// A Keeper stores rounds in a [Store]. It is safe for concurrent use.
type Keeper struct {
	store     Store
	admission *admission.Admission
	life      *lifetime.Lifetime
	swept     atomic.Int64 // when expired rounds were last removed, in Unix seconds
	limit     int          // maximum number of rounds

	// Estimated number of rounds per principal. EndOld counts the stored rounds from time to time.
	// In between, the estimate includes only the rounds that this process adds and removes.
	room quota.Quota
}

// New returns a Keeper that stores rounds in s. It ends expired calls through the Admission a.
func New(s Store, a *admission.Admission, l *lifetime.Lifetime) *Keeper {
	return &Keeper{store: s, admission: a, life: l, limit: maxKept}
}

// Keep stores the round r under the given ID. The subject identifies the call by its session,
// method, tool and arguments. [Keeper.Take] returns the round only for the same subject. Keep
// returns [ErrFull] if too many rounds are stored. If several principals share the store, it also
// returns ErrFull if this principal has too many rounds.
func (k *Keeper) Keep(id string, subject []byte, several bool, r Round) error {
	r.Subject = wire.Digest(subject)
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	principal := r.Ticket.Principal
	if _, ok := k.room.Take(principal, k.limit, several); !ok {
		return ErrFull
	}
	err = k.store.KeepRound(context.WithoutCancel(k.life.Ctx), id, data) // use a context that is never canceled, because rounds must be stored during shutdown, too
	if err != nil {
		k.room.Give(principal, 1)
	}
	return err
}

// Take removes and returns the round with the given ID, so that the call can continue. The subject
// is the one that was passed to [Keeper.Keep]. Take returns nil if another process has taken the
// round or the call has already ended. After an error, the round is still stored.
func (k *Keeper) Take(of admission.Key, id string, subject []byte) (*Round, error) {
	data, err := k.store.TakeRound(k.life.Ctx, of.Session, id)
	if err != nil || data == nil {
		return nil, err
	}
	k.room.Give(of.Principal, 1)
	var r Round
	if err := json.Unmarshal(data, &r); err != nil || r.Ticket.Key != of || r.Subject != wire.Digest(subject) {
		k.life.Log.Error("the stored form of a call that waited for input is damaged: its outcome stays unknown", "session", of.Session, "round", id)
		return nil, nil
	}
	return &r, nil
}

const (
	sweepEvery = time.Minute // interval between sweeps for calls whose clients have not returned
	sweepGrace = time.Minute // accepted difference between the processes' clocks
)

// EndOld removes the calls whose clients have not returned in time, and records them as failed. It
// does so at most once a minute.
func (k *Keeper) EndOld(ctx context.Context) {
	now, last := k.life.Now(), k.swept.Load()
	if now.Unix()-last < int64(sweepEvery/time.Second) || !k.swept.CompareAndSwap(last, now.Unix()) {
		return
	}
	held := map[string]int{}
	defer func() { k.room.Set(held) }()
	for id, data := range k.store.KeptRounds(ctx) {
		var r Round
		if err := json.Unmarshal(data, &r); err == nil && r.Ticket != nil && now.Before(r.Expires.Add(sweepGrace)) {
			held[r.Ticket.Principal]++
			continue
		}
		if data, err := k.store.DropRound(ctx, id); err != nil || data == nil || r.Ticket == nil {
			continue
		}
		k.life.Log.Info("the client did not provide the requested input", "session", r.Ticket.Session, "call", r.Ticket.Number)
		k.admission.Settle(ctx, r.Ticket, gate.End{Outcome: gate.Failure}, "no input")
	}
}
