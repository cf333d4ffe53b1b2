package admission

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Options configures an Admission. Ledger and Generation are required.
type Options struct {
	Ledger     Ledger
	Generation *Generation                // in force at the start
	Where      func(gate.Position) string // a position as people read it; nil: as it is
	Logger     *slog.Logger               // nil: discard
	Now        func() time.Time           // nil: time.Now
	Observer   Observer                   // nil: nobody is told
	Switch     Switch                     // the kill switch; nil: none
	Redactor   *audit.Redactor            // of arguments and results; nil: only hashes go on record
	Process    string                     // names this process in records; empty: nothing does
	Meter      Meter                      // nil: nobody counts
	Ended      func(session string)       // is told of each session that has ended; nil: nobody is
}

// An Admission decides on calls. It is safe for concurrent use.
type Admission struct {
	ledger   Ledger
	where    func(gate.Position) string
	log      *slog.Logger
	now      func() time.Time
	watch    Watch
	kill     Switch // nil: none
	redactor *audit.Redactor
	process  string
	onEnd    func(session string)

	generation inForce
	counts     counts

	Unwritten Unwritten // outcomes that the ledger did not take yet

	Lately Lately // admitted calls

	// Memory that was used, for other calls.
	pendings, settlings sync.Pool
}

// New returns an Admission under o.Generation.
func New(o Options) *Admission {
	a := &Admission{
		ledger: o.Ledger, where: o.Where, log: o.Logger, now: o.Now, watch: Watch{o.Observer, o.Meter},
		kill: o.Switch, redactor: o.Redactor, process: o.Process, onEnd: o.Ended,
	}
	if a.where == nil {
		a.where = gate.Position.String
	}
	a.where = (&positions{text: a.where}).of
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.redactor == nil {
		a.redactor = &audit.Redactor{}
	}
	a.Unwritten.admission, a.Unwritten.wake = a, make(chan struct{}, 1)
	a.generation.Store(o.Generation)
	return a
}

// Open begins a session, or goes on with one that is there already.
func (a *Admission) Open(ctx context.Context, s SessionInfo) error {
	if err := a.ledger.Open(ctx, s); err != nil {
		return err
	}
	a.session(ctx, "session opened", s.Key, s.Since)
	return nil
}

// Find describes a session, whichever process has it, or returns [ErrNoSession].
func (a *Admission) Find(ctx context.Context, session string) (SessionInfo, error) {
	return a.ledger.Find(ctx, session)
}

// Sessions lists the sessions that are open, of other processes too, and those that ended
// with calls open.
func (a *Admission) Sessions(ctx context.Context) iter.Seq2[SessionInfo, error] {
	return a.ledger.Sessions(ctx)
}

// Touch tells other processes that a session is in use.
func (a *Admission) Touch(ctx context.Context, k Key, now time.Time) error {
	return a.ledger.Touch(ctx, k, now)
}

// End forgets a session, and what was counted in it. Its open calls can still
// be settled.
func (a *Admission) End(ctx context.Context, k Key) error {
	a.counts.forget(k.Session)
	a.session(ctx, "session closed", k, a.now())
	if a.onEnd != nil {
		a.onEnd(k.Session)
	}
	return a.ledger.End(ctx, k)
}

// Ready refuses a call of the tool before it is decided where its decision is known not to
// go on record; nil: as far as is known, it will.
func (a *Admission) Ready(tool string) *Refused {
	if err := a.ledger.Ready(); err != nil {
		return a.unrecorded(tool, err)
	}
	return nil
}

// Writable reports why nothing can be put on record now, as far as is known.
func (a *Admission) Writable() error { return a.ledger.Ready() }

// Decide answers c on the newest state of its session: [Admitted], [Refused] or
// [Asked]. It waits for nobody but the ledger.
func (a *Admission) Decide(ctx context.Context, c *Call) Decision {
	return a.Stage(ctx, c).Wait()
}

// Redeem decides c again with the consent of a person to q, and uses the consent
// up if the call is admitted. Its error is [approval.ErrUsed] where the consent is
// none any more, so that the question has to be asked anew.
func (a *Admission) Redeem(ctx context.Context, c *Call, q *Asked, consent Consent) (Decision, error) {
	if now := a.Generation(); now.Fingerprint != q.Generation.Fingerprint {
		return a.Deny(ctx, c, q.Ask, "The policy changed while a person was asked. Call it again to ask anew.", nil), nil
	}
	trace := ctx
	begun := a.watch.begun()
	ctx, end := a.watch.deciding(ctx, c)
	v := &verdict{call: c, grant: q.Grant(), consent: &consent}
	err := a.decide(ctx, v)
	if errors.Is(err, approval.ErrUsed) {
		end(Result{Err: err})
		return nil, err
	}
	d := a.answer(ctx, v, err)
	a.watch.decided(c, d, begun)
	a.watch.observe(trace, c, d, end)
	return d, nil
}

// Withdraw ends the wait of a call. It is of no effect after an admission.
func (a *Admission) Withdraw(ctx context.Context, k Key, q *Asked) {
	err := Update(ctx, a.ledger, k, func(*gate.State) (Change, error) { return Change{Delta: q.Withdraw()}, nil })
	if err != nil && !errors.Is(err, ErrNoSession) {
		a.log.Error("a call that waited for a person cannot be withdrawn", "session", k.Session, "error", err)
	}
}

// A verdict is what the nets say of a call, under a generation.
type verdict struct {
	call    *Call
	grant   *gate.Grant // nil: nobody was asked
	consent *Consent    // with the grant

	generation *Generation
	prepared   gate.Prepared
	decision   gate.Decision
	entry      decisionEntry
	refused    *Refused    // for the caller, where they refused
	state      *gate.State // on which they refused, where a remedy is to be found
}

// errSwapped is that the state is of another generation than was loaded.
var errSwapped = errors.New("the policy was replaced")

// decide asks the nets under the generation in force, and commits what they say.
func (a *Admission) decide(ctx context.Context, v *verdict) error {
	return commit(ctx, func() (Commit, error) { return a.stage(ctx, v) })
}

// stage asks the nets under the generation in force.
func (a *Admission) stage(ctx context.Context, v *verdict) (Commit, error) {
	a.Unwritten.catchUp(ctx)
	for {
		v.generation = a.generation.Load()
		v.prepared.Reset(v.generation.Policy, &v.call.Gate)
		v.prepared.Offered = v.call.Offered
		c, err := a.ledger.Stage(ctx, v.call.Key, func(s *gate.State) (Change, error) { return a.decideOn(s, v) })
		if !errors.Is(err, errSwapped) {
			return c, err
		}
		a.generation.awaitSwap()
	}
}

// decideOn asks the nets in the state s.
func (a *Admission) decideOn(s *gate.State, v *verdict) (change Change, err error) {
	if s.Policy() != v.generation.Policy {
		return Change{}, errSwapped
	}
	if a.Stopped(v.call.Session) != nil {
		return Change{}, ErrStopped
	}
	v.decision, change.Delta = v.prepared.Decide(s, v.grant)
	switch d := v.decision.(type) {
	case *gate.Allow:
		if v.call.Invalid != nil {
			return Change{}, v.call.Invalid
		}
		change.Admits = true
		if change.Events = a.allowed(v, d); v.consent != nil {
			change.Uses = v.consent.ID
		}
	case *gate.Refusal:
		v.refused = a.refuse(v.call, d)
		change.Events = a.refused(v, d)
		if v.generation.remedies(d) {
			v.state = s.Clone()
			v.state.Tools = v.call.Offered
		}
	}
	return change, nil
}

// answer is the decision for the caller, once it is committed.
func (a *Admission) answer(ctx context.Context, v *verdict, err error) Decision {
	c := v.call
	if errors.Is(err, ErrStopped) {
		return a.refuseStopped(ctx, c)
	}
	switch d := v.decision.(type) {
	case *gate.Refusal: // it stands, whether or not it could be committed what the clock has moved
		v.remedy(d)
		a.logRefusal(c, v.refused)
		if err != nil {
			a.log.Error("recording a refusal", "error", err)
		}
		return v.refused
	case *gate.Ask:
		if err == nil {
			return &Asked{d, v.generation}
		}
	case *gate.Allow:
		if err == nil {
			a.noteWould(c, d.Ticket.Number, d.Would)
			return a.admitted(v, d.Ticket)
		}
		if c.Invalid != nil && errors.Is(err, c.Invalid) {
			return &Refused{Text: err.Error(), Facts: Facts{Decision: "refuse", Kind: "invalid"}, Err: err}
		}
	}
	return a.unrecorded(c.Canonical, err)
}

// Unmade refuses a call for an error of the ledger that was met before it was decided, or
// after it was admitted.
func (a *Admission) Unmade(ctx context.Context, c *Call, err error) *Refused {
	if errors.Is(err, ErrStopped) {
		return a.refuseStopped(ctx, c)
	}
	return a.unrecorded(c.Canonical, err)
}

// admitted returns the decision that lets the call run.
func (a *Admission) admitted(v *verdict, t *gate.Ticket) *Admitted {
	c := v.call
	return &Admitted{Ticket{
		Number: t.Number, Awaited: t.Awaited,
		key: c.Key, tool: c.Canonical, names: gate.Call{Tool: c.Gate.Tool, Also: c.Gate.Also}, upstream: c.Upstream, since: c.Gate.Time, policy: v.generation.identity(),
	}}
}

// unrecorded refuses a call that could not be committed.
func (a *Admission) unrecorded(tool string, err error) *Refused {
	a.log.Error("call refused", "tool", tool, "error", err)
	why := audit.ErrUnrecorded
	if errors.Is(err, ErrNoSession) {
		why = ErrNoSession
	}
	r := Refuse("internal", "The call was not made: "+why.Error()+".")
	r.Over = why == ErrNoSession
	if a.watch.meter != nil {
		a.watch.meter.Refused(r)
	}
	return r
}
