package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Settle puts on record how an admitted call ended, and moves the nets by it. by
// says who settled it where it was not the upstream's result. Only the first of
// success and failure counts; after an unknown outcome the call stays open, and so
// it does as long as its outcome cannot be put on record: no token is produced.
func (a *Admission) Settle(ctx context.Context, t *Ticket, e gate.End, by string) {
	a.StageEnd(ctx, t, e, by).Wait()
}

// Abandon settles as unknown, off the record, unless the call is settled: it is
// for whoever cannot tell how the call ended.
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

// A settlement settles one call.
type settlement struct {
	number uint64        // of the call
	events []audit.Event // that go on record with it
	again  bool          // the ledger did not take it before

	policy *gate.Policy
	end    gate.End
	ended  gate.PreparedEnd // the end under the policy
}

func (s *settlement) prepare(p *gate.Policy, e gate.End) {
	s.policy, s.end, s.ended = p, e, p.PrepareEnd(e)
}

// step is the step of a [Ledger].
func (s *settlement) step(state *gate.State) (Change, error) {
	if p := state.Policy(); p != s.policy { // it was replaced in between
		s.prepare(p, s.end)
	}
	if s.again && state.Calls[s.number] == nil { // the ledger took it after all, or an operator was faster
		return Change{}, nil
	}
	return Change{Delta: s.ended.Settle(state, s.number), Events: s.events}, nil
}

// ReadsResults reports whether the nets of the policy read the results of calls.
func (a *Admission) ReadsResults() bool { return a.Generation().Policy.ReadsResults() }

// judged returns the end of a call as the conditions of the policy have it, and who says
// so.
func (t *Ticket) judged(a *Admission, e gate.End, by string) (gate.End, string) {
	judged, broken := a.Generation().Policy.Judged(&t.names, e)
	if broken != nil {
		by = cmp.Or(by, fmt.Sprintf("success at %s", broken.Rule))
		a.log.Info("the result is no success", "tool", t.tool, "call", t.Number, "rule", broken.Rule.String(), "condition", broken.Source)
	}
	return judged, by
}
