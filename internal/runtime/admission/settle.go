package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Settle records the outcome of an admitted call and moves the nets. by names who settled the call,
// if the outcome is not the result of the upstream. Only the first success or failure counts. After
// an unknown outcome, and as long as the outcome cannot be recorded, the call stays open and
// produces no token.
func (a *Admission) Settle(ctx context.Context, t *Ticket, e gate.End, by string) {
	a.StageEnd(ctx, t, e, by).Wait()
}

// Abandon settles the call as unknown, without a record, unless it is settled already. Callers use
// it when they cannot determine the outcome.
func (a *Admission) Abandon(ctx context.Context, t *Ticket) {
	if t.settled.Load() {
		return
	}
	s := &Settling{admission: a, ctx: ctx, ticket: t, settle: settlement{number: t.Number}}
	s.run = s.settle.step
	s.settle.prepare(a.Generation().Policy, gate.End{Outcome: gate.Unknown, Time: a.now()})
	if err := Update(ctx, a.ledger, t.key, s.run); err != nil && !errors.Is(err, ErrNoSession) {
		a.Unwritten.keep(ctx, s, err)
	}
}

// settlement settles one call.
type settlement struct {
	number   uint64        // number of the call
	events   []audit.Event // recorded with the settlement
	repeated bool          // an earlier attempt has failed

	policy *gate.Policy
	end    gate.End
	ended  gate.PreparedEnd // end prepared for policy
}

func (s *settlement) prepare(p *gate.Policy, e gate.End) {
	s.policy, s.end, s.ended = p, e, p.PrepareEnd(e)
}

// step is the function for [Ledger.Stage].
func (s *settlement) step(state *gate.State) (Change, error) {
	if p := state.Policy(); p != s.policy { // the policy was replaced meanwhile
		s.prepare(p, s.end)
	}
	if s.repeated && state.Calls[s.number] == nil { // the ledger has stored it after all, or an operator was faster
		return Change{}, nil
	}
	return Change{Delta: s.ended.Settle(state, s.number), Events: s.events}, nil
}

// ReadsResults reports whether the nets of the policy read results of calls.
func (a *Admission) ReadsResults() bool { return a.Generation().Policy.ReadsResults() }

// applyConditions applies the conditions of the policy to the end of a call. It returns the
// resulting end and who determined it.
func (t *Ticket) applyConditions(a *Admission, e gate.End, by string) (gate.End, string) {
	judged, broken := a.Generation().Policy.Judged(&t.names, e)
	if broken != nil {
		by = cmp.Or(by, fmt.Sprintf("success at %s", broken.Rule))
		a.log.Info("the result is no success", "tool", t.tool, "call", t.Number, "rule", broken.Rule.String(), "condition", broken.Source)
	}
	return judged, by
}
