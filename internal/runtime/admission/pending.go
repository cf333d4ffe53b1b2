package admission

import (
	"context"
	"errors"
	"time"
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
