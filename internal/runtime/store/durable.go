package store

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// Durable is a ledger in a database that other processes can use at the same time. It caches the
// most recently used states, decides each step in memory, and commits it together with all waiting
// steps. If the version of a part of the state shows that another process has changed the part, the
// step is stale, and Durable reads the part again.
//
// Durable acquires locks in the same order as [Memory] and holds them until the step is in the
// queue, so the queue keeps the order of the decisions. The package comment describes the protocol.
type Durable struct {
	Clock Clock

	*committer
	presence *presence

	policyMu sync.RWMutex // locked for reading while a step is staged, and for writing while the policy changes
	codec    *statecode.Codec
	*cache
}

// DurableOptions configures a [Durable]. Backend and Policy are required.
type DurableOptions struct {
	Backend  backend.Backend
	Policy   *gate.Policy
	Active   []string         // active nets, or nil for all
	Recorder *audit.Recorder  // receives a copy of the records once they are in the database; may be nil
	Logger   *slog.Logger     // if nil, nothing is logged
	Now      func() time.Time // defaults to time.Now
}

var _ admission.Ledger = (*Durable)(nil)

// NewDurable returns a ledger in a database. The caller must close the ledger before the database.
func NewDurable(ctx context.Context, o DurableOptions) *Durable {
	d := &Durable{codec: statecode.New(o.Policy, o.Active), cache: newCache(o.Policy, o.Active)}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Recorder == nil {
		o.Recorder = audit.NewRecorder(nil, o.Now)
	}
	d.committer = &committer{
		database: o.Backend, recorder: o.Recorder, clock: &d.Clock, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), now: o.Now, settle: d.settleUnsent,
		queue: queue{commitLock: make(chan struct{}, 1)}, uncertain: uncertainCalls{database: o.Backend},
	}
	d.presence = &presence{committer: d.committer}
	if err := d.Beat(ctx); err != nil { // not fatal, because the ledger refuses calls until the database works
		_ = d.recordFault(err)
	}
	return d
}

// Beat writes this process's heartbeat. It then removes the heartbeats and the sessions of
// processes that have ended, but keeps sessions with open calls. It does nothing if the last
// heartbeat is recent. It must be called every few seconds.
func (d *Durable) Beat(ctx context.Context) error { return d.presence.beat(ctx) }

// Close removes this process's heartbeat from the database.
func (d *Durable) Close(ctx context.Context) error {
	err := d.presence.remove(ctx)
	d.close()
	return err
}

// lockPolicy prevents policy changes until unlockPolicy is called.
func (d *Durable) lockPolicy() { d.policyMu.RLock() }

func (d *Durable) unlockPolicy() { d.policyMu.RUnlock() }

// Adopt implements [admission.Ledger]. It blocks all steps while it runs. Its report covers only
// the cached sessions; other sessions are converted when they are read.
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
func (d *Durable) Ready() error { return d.checkReady() }

// Append implements [admission.Ledger].
func (d *Durable) Append(_ context.Context, events ...audit.Event) (admission.Commit, error) {
	s := d.newQueued(admission.Key{})
	if err := s.addEvents(events); err != nil {
		return nil, err
	}
	return d.enqueue(s), nil
}

// settledBySelf is recorded as the actor when petrigate itself records the outcome of a call that
// was never sent.
const settledBySelf = "petrigate: the call was never sent"

// settleUnsent records a failure as the outcome of a call that was admitted but never sent.
func (d *Durable) settleUnsent(c admittedCall) {
	ctx, now := context.Background(), d.now()
	err := admission.Update(ctx, d, c.session, func(s *gate.State) (admission.Change, error) {
		o := s.Calls[c.call]
		if o == nil {
			return admission.Change{}, nil
		}
		return admission.Change{Delta: s.Policy().SettleAt(s, c.call, gate.Failure, now), Events: []audit.Event{audit.Outcome{
			Time: now, Event: "outcome", Session: c.session.Session, Call: c.call, Tool: o.Call.Tool,
			Outcome: gate.Failure.String(), By: settledBySelf,
		}}}, nil
	})
	if err != nil {
		d.log.Error("cannot settle a call that was admitted but never sent: settle it as a failure", "session", c.session.Session, "call", c.call, "error", err)
	}
}
