package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Settle records the outcome of an admitted call and changes the nets' markings accordingly. The
// last argument, such as "late answer", explains an outcome that does not simply follow from the
// upstream's reply. Only the first success or failure counts. Until the outcome is known and
// recorded, the call stays open and produces no token.
func (a *Admission) Settle(ctx context.Context, t *Ticket, e gate.End, by string) {
	a.StageEnd(ctx, t, e, by).Wait()
}

// ReadsResult reports whether [Admission.Settle] needs the JSON value and the text of a successful
// result.
func (a *Admission) ReadsResult(t *Ticket) (value, text bool) {
	g := a.Generation()
	judge := cmp.Or(t.judge, g)
	return g.readsResults || judge.readsResults, judge.judgesResults
}

// Abandon marks the outcome of the call as unknown unless the call has been settled already. It
// records nothing. It is meant for callers that cannot determine the outcome.
func (a *Admission) Abandon(ctx context.Context, t *Ticket) {
	if t.settled.Load() {
		return
	}
	s := &Settling{admission: a, ctx: ctx, ticket: t}
	s.run = s.step
	s.prepare(a.Generation().Policy, gate.End{Outcome: gate.Unknown, Time: a.now()})
	if err := Update(ctx, a.ledger, t.Key, s.run); err != nil && !errors.Is(err, ErrNoSession) {
		a.Unwritten.keep(ctx, s, err)
	}
}

// Settling is a call's outcome that has been staged but might not be durable yet. If the ledger
// cannot store the outcome, [Unwritten] keeps it.
type Settling struct {
	admission *Admission
	ctx       context.Context //nolint:containedctx // context of the settlement, used by Wait
	ticket    *Ticket
	commit    Commit
	err       error
	left      func(Result) // reports the end of the settlement phase to the observer; nil if the call is not observed

	policy   *gate.Policy
	end      gate.End
	ended    gate.PreparedEnd
	entry    outcomeEntry
	events   []audit.Event                     // events to record with the settlement
	run      func(*gate.State) (Change, error) // the method value s.step, stored so that it is allocated only once
	repeated bool                              // whether an earlier attempt to store the settlement failed
	retry    time.Time                         // earliest time of the next attempt to stage the settlement
}

func (s *Settling) prepare(p *gate.Policy, e gate.End) {
	s.policy, s.end, s.ended = p, e, p.PrepareEnd(e)
}

// step returns the change that the outcome makes to the given state. The change is empty if an
// earlier attempt or an operator has already settled the call. step is passed to [Ledger.Stage].
func (s *Settling) step(state *gate.State) (Change, error) {
	if p := state.Policy(); p != s.policy { // the policy has been replaced since s was prepared
		s.prepare(p, s.end)
	}
	if s.repeated && state.Calls[s.ticket.Number] == nil { // an earlier attempt or an operator has already settled the call
		return Change{}, nil
	}
	return Change{Delta: s.ended.Settle(state, s.ticket.Number), Events: s.events}, nil
}

// StageEnd is like Settle but does not wait for the outcome to become durable. The caller must call
// [Settling.Wait] exactly once, and must not report the outcome before Wait returns.
func (a *Admission) StageEnd(ctx context.Context, t *Ticket, e gate.End, by string) *Settling {
	s, ok := a.settlings.Get().(*Settling)
	if !ok {
		s = &Settling{}
		s.run = s.step
	}
	s.admission, s.ticket = a, t
	a.Unwritten.catchUp(ctx) // store an earlier settlement of this call first, if there is one
	if s.ctx = ctx; t.observed != nil {
		s.ctx, s.left = a.Watch.observer.Start(t.observed.ctx, PhaseSettle, t.observed.info)
	}
	g := a.Generation()
	e.Time = a.now()
	if judge := cmp.Or(t.judge, g); judge.judgesResults {
		var broken *gate.Condition
		if e, broken = a.applyConditions(judge.Policy, t, e); broken != nil {
			by = cmp.Or(by, fmt.Sprintf("success at %s", broken.Rule))
		}
	}
	if a.ledger.Records() {
		s.events = a.records.outcomeEvents(&s.entry, g, t, &e, by)
	}
	s.prepare(g.Policy, e)
	s.commit, s.err = a.ledger.Stage(s.ctx, t.Key, s.run)
	return s
}

// applyConditions checks a successful call against the policy's conditions on results. If the call
// violates a condition, it returns e with the outcome changed to a failure, along with the
// condition. If an older version of petrigate stored the ticket, it is unknown which conditions
// apply, so the outcome becomes unknown. The policy must have conditions on results.
func (a *Admission) applyConditions(p *gate.Policy, t *Ticket, e gate.End) (judged gate.End, broken *gate.Condition) {
	if e.Outcome != gate.Success {
		return e, nil
	}
	if t.Called == "" {
		a.log.Warn("the outcome stays unknown: an older version of petrigate admitted the call, so its result cannot be judged", "tool", t.Tool, "call", t.Number)
		e.Outcome = gate.Unknown
		return e, nil
	}
	e, broken = p.Judged(&gate.Call{Tool: t.Called, Also: t.Also}, e)
	if broken != nil {
		a.log.Info("the result is not a success", "tool", t.Tool, "call", t.Number, "rule", broken.Rule.String(), "condition", broken.Source)
	}
	return e, broken
}

// Wait waits until the outcome is durable. If it cannot be stored now, Unwritten keeps it, and the
// call is listed with an unknown outcome until it is stored.
func (s *Settling) Wait() {
	a, t, err := s.admission, s.ticket, s.err
	if err == nil {
		err = wait(s.ctx, s.commit)
	}
	if errors.Is(err, ErrStale) {
		err = Update(s.ctx, a.ledger, t.Key, s.run)
	}
	switch t.settled.Store(err == nil); {
	case errors.Is(err, ErrNoSession):
		a.log.Error("the outcome stays unknown", "tool", t.Tool, "call", t.Number, "error", err)
	case err != nil:
		a.Unwritten.keep(s.ctx, s, err)
	}
	if a.Watch.meter != nil {
		a.Watch.meter.Settled(t.Upstream, s.end.Outcome, s.end.Time.Sub(t.Since))
	}
	if s.left != nil {
		s.left(Result{Outcome: s.end.Outcome, Err: err})
	}
	if err == nil {
		*s = Settling{run: s.run}
		a.settlings.Put(s)
	}
}
