package admission

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A Pending is a decision that is made, and not known to be durable yet.
type Pending struct {
	admission *Admission
	trace     context.Context //nolint:containedctx // of the call, for the second half of the decision
	ctx       context.Context //nolint:containedctx // of the decision
	begun     time.Time
	verdict   verdict
	commit    Commit
	err       error
	end       func(Result)
}

// Stage decides c as Decide does, but does not wait for the decision to be durable: for a
// caller who has several calls at hand, which are waited for together. Nothing may come of
// it before [Pending.Wait], which is always called, once.
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

// Wait returns the decision once it is durable, or a refusal where it cannot be.
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
	if _, ok := d.(*Admitted); ok { // of another decision the caller has parts
		*p = Pending{}
		a.pendings.Put(p)
	}
	return d
}

// A Settling is the end of a call that the nets know, and that is not known to be durable
// yet. One that the ledger does not take is kept, see [Unwritten].
type Settling struct {
	admission *Admission
	ctx       context.Context //nolint:containedctx // of the settlement, for its second half
	ticket    *Ticket
	commit    Commit
	err       error
	left      func(Result)

	settle settlement
	entry  outcomeEntry
	run    func(*gate.State) (Change, error) // the step
	retry  time.Time                         // before which it is not staged again
}

// StageEnd settles as Settle does, but does not wait for the end to be durable. Nobody may
// hear of it before [Settling.Wait], which is always called, once.
func (a *Admission) StageEnd(ctx context.Context, t *Ticket, e gate.End, by string) *Settling {
	s, ok := a.settlings.Get().(*Settling)
	if !ok {
		s = &Settling{}
		s.run = s.settle.step
	}
	s.admission, s.ticket, s.settle.number = a, t, t.Number
	a.Unwritten.catchUp(ctx) // an earlier end of the same call goes first
	s.ctx, s.left = a.watch.settling(ctx, t)
	e.Time = a.now()
	e, by = t.judged(a, e, by)
	s.settle.events = a.ended(&s.entry, t, &e, by)
	s.settle.prepare(a.Generation().Policy, e)
	s.commit, s.err = a.ledger.Stage(s.ctx, t.key, s.run)
	return s
}

// Wait returns when the end is durable. Where it cannot be made durable now, it is kept until it
// can, and the call is listed as unknown meanwhile.
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
