package store

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// Durable is a ledger in a database that other processes may use at the same time. It caches the
// states that were used last. A step is decided in memory and committed together with all waiting
// steps. The versions of its parts show whether another process has changed them; then the step is
// stale and the parts are read again.
//
// Locks are taken in the same order as in [Memory] and are held until the step is in the queue, so
// the order of the queue is the order of the decisions. The package comment describes the protocol.
type Durable struct {
	Clock Clock

	database backend.Backend
	recorder *audit.Recorder // also receives the committed records
	log      *slog.Logger
	now      func() time.Time
	queue    queue
	staging  atomic.Int32 // number of steps being staged

	lastFault     atomic.Pointer[error] // error of the last failed access; nil: the database works
	uncertain     uncertainCalls        // guarded by the commit lock
	commitContext commitContext         // guarded by the commit lock
	unsent        unsent

	policyMu sync.RWMutex // read-locked while a step is staged, write-locked while a policy is replaced
	codec    *statecode.Codec
	*cache

	presence presence
}

// DurableOptions configures a [Durable]. Backend and Policy are required.
type DurableOptions struct {
	Backend  backend.Backend
	Policy   *gate.Policy
	Active   []string         // active nets; nil: all
	Recorder *audit.Recorder  // also receives the records, after they are in the database; nil: none
	Logger   *slog.Logger     // nil: discard
	Now      func() time.Time // nil: time.Now
}

var _ admission.Ledger = (*Durable)(nil)

// NewDurable returns a ledger in a database. Close it before the database is closed.
func NewDurable(ctx context.Context, o DurableOptions) (*Durable, error) {
	d := &Durable{
		database: o.Backend, recorder: o.Recorder, log: o.Logger, now: o.Now, queue: queue{commitLock: make(chan struct{}, 1)},
		codec: statecode.New(o.Policy, o.Active), cache: newCache(o.Policy, o.Active),
	}
	if d.recorder == nil {
		d.recorder = audit.NewRecorder(nil, d.now)
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.now == nil {
		d.now = time.Now
	}
	if err := d.Beat(ctx); err != nil { // not fatal: calls are refused until the database works
		_ = d.recordFault(err)
	}
	return d, nil
}

// Close removes the heartbeat of this process from the database.
func (d *Durable) Close(ctx context.Context) error {
	err := d.removePresence(ctx)
	d.queue.commitLock <- struct{}{}
	defer d.queue.unlockCommit()
	d.commitContext.cancel()
	return err
}

// lockPolicy prevents a policy change until unlockPolicy.
func (d *Durable) lockPolicy() { d.policyMu.RLock() }

func (d *Durable) unlockPolicy() { d.policyMu.RUnlock() }

// Adopt implements [admission.Ledger]. It blocks all steps meanwhile. It reports on the sessions in
// memory; the other sessions are converted when they are read.
func (d *Durable) Adopt(ctx context.Context, a admission.Adoption) ([]admission.Adopted, error) {
	d.policyMu.Lock()
	defer d.policyMu.Unlock()
	d.drain()
	t := &takeover{Adoption: a, from: d.codec, to: statecode.New(a.Policy, a.Active)}
	t.to.Reset(a.Reset)
	d.prepareTakeover(t)
	if slices.ContainsFunc(t.report, admission.Adopted.Held) {
		return t.report, admission.ErrHeld
	}
	if a.Try {
		return t.report, nil
	}
	if len(a.Events) > 0 {
		c, err := d.Append(ctx, a.Events...)
		if err != nil {
			return nil, err
		}
		d.drain()
		if err := c.Wait(ctx); err != nil {
			return nil, err
		}
	}
	d.codec = t.to
	d.applyTakeover(t)
	return t.report, nil
}

// Records implements [admission.Ledger].
func (d *Durable) Records() bool { return true }

// Ready implements [admission.Ledger].
func (d *Durable) Ready() error {
	if d.lastFault.Load() == nil {
		return d.recorder.Ready()
	}
	if err := d.database.Ready(context.Background()); err != nil {
		return err
	}
	d.lastFault.Store(nil)
	return d.recorder.Ready()
}

// recordFault records that the database has failed: Ready has to check it.
func (d *Durable) recordFault(err error) error {
	d.lastFault.Store(&err)
	return err
}
