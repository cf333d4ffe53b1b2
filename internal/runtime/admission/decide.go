package admission

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Decide decides c on the newest state of its session. It waits only for the ledger.
func (a *Admission) Decide(ctx context.Context, c *Call) Decision {
	return a.Stage(ctx, c).Wait()
}

// Redeem decides c again with a person's consent to q, and uses up the consent if the call is
// admitted. The error is [approval.ErrUsed] if the consent is not valid any more; then the caller
// has to ask again.
func (a *Admission) Redeem(ctx context.Context, c *Call, q *Asked, consent Consent) (Decision, error) {
	if now := a.Generation(); now.Fingerprint != q.Generation.Fingerprint {
		return a.Deny(ctx, c, q.Ask, "The policy changed while a person was being asked. Call the tool again to ask again.", nil), nil
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

// Withdraw ends the wait of a call for approval. It has no effect after an admission.
func (a *Admission) Withdraw(ctx context.Context, k Key, q *Asked) {
	err := Update(ctx, a.ledger, k, func(*gate.State) (Change, error) { return Change{Delta: q.Withdraw()}, nil })
	if err != nil && !errors.Is(err, ErrNoSession) {
		a.log.Error("cannot withdraw a call that waited for a person", "session", k.Session, "error", err)
	}
}

// Ready returns a refusal of a call of the tool if a decision could not be put on record now; nil:
// it probably can.
func (a *Admission) Ready(tool string) *Refused {
	if err := a.ledger.Ready(); err != nil {
		return a.refuseUnrecorded(tool, err)
	}
	return nil
}

// Writable returns why nothing can be put on record now, as far as is known; nil: it probably can.
func (a *Admission) Writable() error { return a.ledger.Ready() }

// decide decides under the generation in force, and commits the decision.
func (a *Admission) decide(ctx context.Context, v *verdict) error {
	return commit(ctx, func() (Commit, error) { return a.stage(ctx, v) })
}

// stage decides under the generation in force, and stages the decision.
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

// decideOn decides on the state s. It returns errSwapped if s belongs to another policy.
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
		if a.ledger.Records() {
			change.Events = a.records.allowed(v, d)
			a.Recent.note(v.call.Key, v.entry.Call, v.entry.Args)
		}
		if v.consent != nil {
			change.Uses = v.consent.ID
		}
	case *gate.Refusal:
		v.refused = a.newRefusal(v.call, d)
		if a.ledger.Records() {
			change.Events = a.records.refused(v, d)
		}
		if v.generation.wantsRemedy(d) {
			v.state = s.Clone()
			v.state.Tools = v.call.Offered
		}
	}
	return change, nil
}

// answer returns the decision for the caller after the commit, whose error is err.
func (a *Admission) answer(ctx context.Context, v *verdict, err error) Decision {
	c := v.call
	if errors.Is(err, ErrStopped) {
		return a.refuseStopped(ctx, c)
	}
	switch d := v.decision.(type) {
	case *gate.Refusal: // the refusal stands even if the commit of the clock failed
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
			a.countShadow(c, d.Ticket.Number, d.Would)
			return a.admitted(v, d.Ticket)
		}
		if c.Invalid != nil && errors.Is(err, c.Invalid) {
			return &Refused{Text: err.Error(), Facts: Facts{Decision: "refuse", Kind: "invalid"}, Err: err}
		}
	}
	return a.refuseUnrecorded(c.Canonical, err)
}

// admitted returns the decision that admits the call.
func (a *Admission) admitted(v *verdict, t *gate.Ticket) *Admitted {
	c := v.call
	return &Admitted{Ticket{
		Number: t.Number, Awaited: t.Awaited,
		key: c.Key, tool: c.Canonical, names: gate.Call{Tool: c.Gate.Tool, Also: c.Gate.Also}, upstream: c.Upstream, since: c.Gate.Time, policy: v.generation.identity(),
	}}
}

// RefuseError refuses a call because of a ledger error that occurred before the call was decided or
// after it was admitted.
func (a *Admission) RefuseError(ctx context.Context, c *Call, err error) *Refused {
	if errors.Is(err, ErrStopped) {
		return a.refuseStopped(ctx, c)
	}
	return a.refuseUnrecorded(c.Canonical, err)
}

// refuseUnrecorded refuses a call whose decision could not be committed.
func (a *Admission) refuseUnrecorded(tool string, err error) *Refused {
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
