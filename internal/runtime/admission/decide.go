package admission

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/approval"
)

// Decide decides whether the call c may run, based on the latest state of its session. It blocks
// only while it waits for the ledger.
func (a *Admission) Decide(ctx context.Context, c *Call) Decision {
	return a.Stage(ctx, c).Wait()
}

// Pending is a decision that has been staged but might not be durable yet.
type Pending struct {
	admission *Admission
	phase     decisionPhase
	verdict   verdict
	commit    Commit
	err       error
}

// Stage is like Decide but does not wait for the decision to become durable, so that a caller can
// stage several calls and then wait for all of them. The caller must call [Pending.Wait] exactly
// once, and must not act on the decision before Wait returns.
func (a *Admission) Stage(ctx context.Context, c *Call) *Pending {
	p, ok := a.pendings.Get().(*Pending)
	if !ok {
		p = &Pending{}
	}
	p.admission, p.phase, p.verdict.call = a, a.Watch.startDecision(ctx, c), c
	p.commit, p.err = a.stage(p.phase.ctx, &p.verdict)
	return p
}

// Wait waits for the decision to become durable and returns it, or a refusal if it could not become
// durable.
func (p *Pending) Wait() Decision {
	a, ctx, err := p.admission, p.phase.ctx, p.err
	if err == nil {
		err = wait(ctx, p.commit)
	}
	if errors.Is(err, ErrStale) && ctx.Err() == nil {
		err = a.decide(ctx, &p.verdict)
	}
	d := a.answer(ctx, &p.verdict, err)
	a.Watch.endDecision(p.verdict.call, d, &p.phase)
	if _, ok := d.(*Admitted); ok { // unlike a refusal or an Asked, an Admitted does not point into p, so p can be reused
		*p = Pending{}
		a.pendings.Put(p)
	}
	return d
}

// Redeem decides again whether c may run, after a person has consented to the request q. If the
// call is admitted, the consent is used up. If the consent has become invalid, the error is
// [approval.ErrUsed] and the caller must ask again.
func (a *Admission) Redeem(ctx context.Context, c *Call, q *Asked, consent Consent) (Decision, error) {
	if now := a.Generation(); now.Fingerprint != q.Generation.Fingerprint {
		return a.Deny(ctx, c, q.Ask, "The policy changed while a person was being asked. Call the tool again to ask again.", nil), nil
	}
	phase := a.Watch.startDecision(ctx, c)
	v := &verdict{call: c, grant: q.Grant(), consent: &consent}
	err := a.decide(phase.ctx, v)
	if errors.Is(err, approval.ErrUsed) {
		if phase.end != nil {
			phase.end(Result{Err: err})
		}
		return nil, err
	}
	d := a.answer(phase.ctx, v, err)
	a.Watch.endDecision(c, d, &phase)
	return d, nil
}

// Withdraw makes the call stop waiting for the answer to the approval request q. It does nothing if
// the call has been admitted.
func (a *Admission) Withdraw(ctx context.Context, k Key, q *Asked) {
	err := Update(ctx, a.ledger, k, func(*gate.State) (Change, error) { return Change{Delta: q.Withdraw()}, nil })
	if err != nil && !errors.Is(err, ErrNoSession) {
		a.log.Error("cannot withdraw a call that waited for a person", "session", k.Session, "error", err)
	}
}

// Ready returns nil if a decision about the tool can probably be recorded now, or else the refusal
// to return to the client.
func (a *Admission) Ready(tool string) *Refused {
	if err := a.ledger.Ready(); err != nil {
		return a.refuseUnrecorded(tool, err)
	}
	return nil
}

// Writable returns nil if the ledger can probably record events now, or else an error that explains
// why it cannot.
func (a *Admission) Writable() error { return a.ledger.Ready() }

// decide makes a decision on the call in v, under the [Generation] in force, and commits it.
func (a *Admission) decide(ctx context.Context, v *verdict) error {
	return commit(ctx, func() (Commit, error) { return a.stage(ctx, v) })
}

// stage makes a decision on the call in v, under the [Generation] in force. The caller must wait
// for the returned [Commit] before it acts on the decision.
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

// decideOn makes a decision on the call in v, based on the session state s. If the policy has been
// replaced meanwhile, it returns errSwapped.
func (a *Admission) decideOn(s *gate.State, v *verdict) (change Change, err error) {
	if s.Policy() != v.generation.Policy {
		return Change{}, errSwapped
	}
	if a.StopOf(v.call.Session) != nil {
		return Change{}, ErrStopped
	}
	v.decision, change.Delta = v.prepared.Decide(s, v.grant)
	switch d := v.decision.(type) {
	case *gate.Allow:
		if v.call.Invalid != nil {
			return Change{}, v.call.Invalid
		}
		change.Admits = true
		if a.ledger.Records() {
			change.Events = a.records.admissionEvents(v, d)
			if len(v.entry.Args) > 0 {
				a.Recent.note(v.call.Key, v.entry.Call, v.entry.Args)
			}
		}
		if v.consent != nil {
			change.Uses = v.consent.ID
		}
	case *gate.Refusal:
		v.refused = a.newRefusal(v.call, d)
		if a.ledger.Records() {
			change.Events = a.records.refusalEvents(v, d)
		}
		if v.generation.wantsRemedy(d) {
			v.state = s.Clone()
			v.state.Tools = v.call.Offered
		}
	}
	return change, nil
}

// answer returns the decision to report to the caller. The argument err is the error from
// committing the decision, if any.
func (a *Admission) answer(ctx context.Context, v *verdict, err error) Decision {
	c := v.call
	if errors.Is(err, ErrStopped) {
		return a.refuseStopped(ctx, c)
	}
	switch d := v.decision.(type) {
	case *gate.Refusal: // the call stays refused even if its record and the change to the state could not be committed
		v.addRemedy(d)
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
			if d.Would != nil {
				a.countShadow(c, d.Ticket.Number, d.Would)
			}
			admitted := &Admitted{Ticket: Ticket{judge: v.generation, ticketFacts: ticketFacts{
				Key: c.Key, Number: d.Ticket.Number, Awaited: d.Ticket.Awaited,
				Tool: c.Canonical, Called: c.Gate.Tool, Also: c.Gate.Also, Upstream: c.Upstream, Since: c.Gate.Time, Policy: v.generation.identity,
			}}}
			admitted.Pass.ticket = &admitted.Ticket
			return admitted
		}
		if c.Invalid != nil && errors.Is(err, c.Invalid) {
			return &Refused{Text: err.Error(), Facts: Facts{Decision: "refuse", Kind: "invalid"}, Err: err}
		}
	}
	return a.refuseUnrecorded(c.Canonical, err)
}
