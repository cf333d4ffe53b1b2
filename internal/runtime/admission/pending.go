package admission

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Pending is a staged decision that is not known to be durable yet.
type Pending struct {
	admission *Admission
	trace     context.Context //nolint:containedctx // of the call, used by Wait
	ctx       context.Context //nolint:containedctx // of the decision, used by Wait
	begun     time.Time
	verdict   verdict
	commit    Commit
	err       error
	end       func(Result)
}

// Stage decides c like Decide, but does not wait until the decision is durable, so that a caller
// with several calls can wait for them together. The caller must call [Pending.Wait] exactly once,
// and must not act on the decision before.
func (a *Admission) Stage(ctx context.Context, c *Call) *Pending {
	p, ok := a.pendings.Get().(*Pending)
	if !ok {
		p = &Pending{}
	}
	p.admission, p.trace, p.begun, p.verdict.call = a, ctx, a.watch.begun(), c
	p.ctx, p.end = a.watch.deciding(ctx, c)
	p.commit, p.err = a.stage(p.ctx, &p.verdict)
	return p
}

// Wait returns the decision when it is durable, or a refusal if it cannot be made durable.
func (p *Pending) Wait() Decision {
	a := p.admission
	err := p.err
	if err == nil {
		err = wait(p.ctx, p.commit)
	}
	if errors.Is(err, ErrStale) && p.ctx.Err() == nil {
		err = a.decide(p.ctx, &p.verdict)
	}
	d := a.answer(p.ctx, &p.verdict, err)
	a.watch.decided(p.verdict.call, d, p.begun)
	a.watch.observe(p.trace, p.verdict.call, d, p.end)
	if _, ok := d.(*Admitted); ok { // other decisions share memory with p
		*p = Pending{}
		a.pendings.Put(p)
	}
	return d
}

// Settling is a staged settlement of a call that is not known to be durable yet. If the ledger
// cannot store it, [Unwritten] keeps it.
type Settling struct {
	admission *Admission
	ctx       context.Context //nolint:containedctx // of the settlement, used by Wait
	ticket    *Ticket
	commit    Commit
	err       error
	left      func(Result)

	settle settlement
	entry  outcomeEntry
	run    func(*gate.State) (Change, error) // the method settle.step, bound once
	retry  time.Time                         // not staged again before this time
}

// StageEnd settles like Settle, but does not wait until the settlement is durable. The caller must
// call [Settling.Wait] exactly once, and must not report the outcome before.
func (a *Admission) StageEnd(ctx context.Context, t *Ticket, e gate.End, by string) *Settling {
	s, ok := a.settlings.Get().(*Settling)
	if !ok {
		s = &Settling{}
		s.run = s.settle.step
	}
	s.admission, s.ticket, s.settle.number = a, t, t.Number
	a.Unwritten.catchUp(ctx) // an earlier settlement of the same call comes first
	s.ctx, s.left = a.watch.settling(ctx, t)
	e.Time = a.now()
	e, by = t.applyConditions(a, e, by)
	s.settle.events = a.outcomeEvents(&s.entry, t, &e, by)
	s.settle.prepare(a.Generation().Policy, e)
	s.commit, s.err = a.ledger.Stage(s.ctx, t.key, s.run)
	return s
}

// Wait returns when the settlement is durable. If it cannot be made durable now, Unwritten keeps
// it, and the call is listed as unknown meanwhile.
func (s *Settling) Wait() {
	a, t, err := s.admission, s.ticket, s.err
	if err == nil {
		err = wait(s.ctx, s.commit)
	}
	if errors.Is(err, ErrStale) {
		err = Update(s.ctx, a.ledger, t.key, s.run)
	}
	switch t.settled.Store(err == nil); {
	case errors.Is(err, ErrNoSession):
		a.log.Error("the outcome stays unknown", "tool", t.tool, "call", t.Number, "error", err)
	case err != nil:
		a.Unwritten.keep(s.ctx, s, err)
	}
	if a.watch.meter != nil {
		a.watch.meter.Settled(t.upstream, s.settle.end.Outcome, s.settle.end.Time.Sub(t.since))
	}
	s.left(Result{Outcome: s.settle.end.Outcome, Err: err})
	if err == nil {
		*s = Settling{run: s.run}
		a.settlings.Put(s)
	}
}
