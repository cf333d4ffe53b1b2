package store

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
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

// Durable is a ledger in a database, which other processes may use at the same time. It has
// the states that were used last in memory, as this process leaves them; a step is made
// there, and is committed with all that wait. A step whose state another process has
// changed is found out by the versions of its parts: then they are read again.
//
// Locks are taken as by [Memory], and are held until the step is in the queue, so that the
// order there is the one in which steps were made.
type Durable struct {
	Clock Clock

	database backend.Backend
	recorder *audit.Recorder // that gets the records too
	log      *slog.Logger
	now      func() time.Time
	queue    queue
	staging  atomic.Int32 // steps that are being made

	broken    atomic.Pointer[error] // of the last commit; nil: it succeeded
	doubts    doubts                // guarded by the lead of the queue
	allowance allowance             // likewise
	unsent    unsent

	swap  sync.RWMutex // held while a step is made, and, for writing, while a policy takes over
	codec *statecode.Codec
	*cache

	presence presence
}

// DurableOptions configure a [Durable]. Backend and Policy are required.
type DurableOptions struct {
	Backend  backend.Backend
	Policy   *gate.Policy
	Active   []string         // the nets that are active; nil: all
	Recorder *audit.Recorder  // that gets the records too, once they are in the database; nil: none
	Logger   *slog.Logger     // nil: nothing is logged
	Now      func() time.Time // nil: the clock of the machine
}

var _ admission.Ledger = (*Durable)(nil)

// NewDurable returns a ledger of the states in a database. It is [Durable.Close]d before
// the database is.
func NewDurable(ctx context.Context, o DurableOptions) (*Durable, error) {
	d := &Durable{
		database: o.Backend, recorder: o.Recorder, log: o.Logger, now: o.Now, queue: queue{lead: make(chan struct{}, 1)},
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
	if err := d.Beat(ctx); err != nil { // calls are refused until it is mended
		_ = d.fault(err)
	}
	return d, nil
}

// Close says that the process is not there any more.
func (d *Durable) Close(ctx context.Context) error {
	err := d.leave(ctx)
	d.queue.lead <- struct{}{}
	defer d.queue.rest()
	d.allowance.end()
	return err
}

// Open implements [admission.Ledger].
func (d *Durable) Open(ctx context.Context, s admission.SessionInfo) error {
	if d.begin(s); s.About == nil {
		return nil
	}
	return d.change(ctx, s.Key, func(e *entry) (*queued, error) {
		if e.row.version > 0 {
			return nil, nil
		}
		return d.write(e, e.touches(nil), nil)
	})
}

func (d *Durable) begin(s admission.SessionInfo) {
	d.stay()
	defer d.move()
	d.enter(s)
}

// stay holds the policy until it may move.
func (d *Durable) stay() { d.swap.RLock() }

func (d *Durable) move() { d.swap.RUnlock() }

// Adopt implements [admission.Ledger]. It stops every step meanwhile. It reports on the
// sessions in memory; the others are taken over when they are read.
func (d *Durable) Adopt(ctx context.Context, a admission.Adoption) ([]admission.Adopted, error) {
	d.swap.Lock()
	defer d.swap.Unlock()
	d.drain()
	t := &takeover{Adoption: a, from: d.codec, to: statecode.New(a.Policy, a.Active)}
	t.to.Reset(a.Reset)
	d.takeOver(t)
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
	d.follow(t)
	return t.report, nil
}

// entry finds the session, in memory or in the database.
func (d *Durable) entry(ctx context.Context, k admission.Key) (*entry, error) {
	if e := d.known(k.Session); e != nil {
		return e, nil
	}
	info, err := d.find(ctx, k.Session)
	if err != nil {
		return nil, err
	}
	e, created := d.enter(info)
	if created {
		e.hold()
		defer e.release()
		e.new = false
	}
	return e, nil
}

// Find implements [admission.Ledger].
func (d *Durable) Find(ctx context.Context, session string) (admission.SessionInfo, error) {
	if e := d.known(session); e != nil {
		return d.described(ctx, e.described().Key)
	}
	if _, err := d.ended(ctx); err != nil {
		return admission.SessionInfo{}, err
	}
	return d.find(ctx, session)
}

// find reads a session from the database.
func (d *Durable) find(ctx context.Context, session string) (admission.SessionInfo, error) {
	parts, err := d.database.Load(ctx, sessionID(session))
	if err != nil {
		return admission.SessionInfo{}, err
	}
	if parts[0].Version == 0 {
		return admission.SessionInfo{}, admission.ErrNoSession
	}
	return d.describe(&parts[0])
}

func sessionID(name string) backend.PartID { return backend.PartID{Scope: backend.Session, Name: name} }

// describe reads what a session is.
func (d *Durable) describe(p *backend.Part) (admission.SessionInfo, error) {
	i, calls, err := statecode.ReadOpen(p.ID.Name, p.Data)
	if err != nil {
		return admission.SessionInfo{}, err
	}
	s := admission.SessionInfo{
		Key: admission.Key{Session: p.ID.Name, Principal: i.Principal}, Since: i.Since, Lasting: i.Writer == "", Ended: i.Ended, Open: i.Open, Used: p.Changed,
	}
	if i.About != "" {
		s.About = []byte(i.About)
	}
	if i.Writer != "" && i.Writer != d.database.Writer() {
		s.Process, s.Gone = i.Writer, d.presence.gone(i.Writer)
	}
	for _, c := range calls {
		s.Calls = append(s.Calls, admission.OpenCall{Number: c.Number, Tool: c.Tool, Since: c.Since, Unknown: c.Unknown || d.lost(c.Process), More: c.More})
	}
	return s, nil
}

// Touch implements [admission.Ledger].
func (d *Durable) Touch(ctx context.Context, k admission.Key, _ time.Time) error {
	return d.change(ctx, k, func(e *entry) (*queued, error) {
		if e.row.version == 0 || !e.info.Lasting {
			return nil, nil
		}
		return d.write(e, e.touches(nil), nil)
	})
}

// End implements [admission.Ledger].
func (d *Durable) End(ctx context.Context, k admission.Key) error {
	return d.change(ctx, k, func(e *entry) (*queued, error) {
		if e.ended = true; e.row.version == 0 && e.ifOver() != nil {
			return nil, nil
		}
		return d.write(e, e.touches(nil), nil)
	})
}

// change makes a step of a session under its locks, and waits for it.
func (d *Durable) change(ctx context.Context, k admission.Key, f func(*entry) (*queued, error)) error {
	for {
		s, err := d.attempt(ctx, k, f)
		if err == nil && s != nil {
			err = s.Wait(ctx)
		}
		if !errors.Is(err, admission.ErrStale) || ctx.Err() != nil {
			return err
		}
	}
}

// owner is a number by which flights of a session are known in what it shares.
func owner() uint64 { return rand.Uint64N(1<<63-1) + 1 }

// Records implements [admission.Ledger].
func (d *Durable) Records() bool { return true }

// Ready implements [admission.Ledger].
func (d *Durable) Ready() error {
	if d.broken.Load() == nil {
		return d.recorder.Ready()
	}
	if err := d.database.Ready(context.Background()); err != nil {
		return err
	}
	d.broken.Store(nil)
	return d.recorder.Ready()
}

// fault notes that the database does not do what it should.
func (d *Durable) fault(err error) error {
	d.broken.Store(&err)
	return err
}
