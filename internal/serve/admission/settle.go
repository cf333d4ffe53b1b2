package admission

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
)

// Settle puts on record how an admitted call ended, and moves the nets by it. by
// says who settled it where it was not the upstream's result. Only the first of
// success and failure counts; after an unknown outcome the call stays open, and so
// it does where its outcome cannot be put on record: no token is produced.
func (a *Admission) Settle(ctx context.Context, t *Ticket, e gate.End, by string) {
	a.StageEnd(ctx, t, e, by).Wait()
}

// Abandon settles as unknown, off the record, unless the call is settled: it is
// for whoever cannot tell how the call ended.
func (a *Admission) Abandon(ctx context.Context, t *Ticket) {
	if t.settled.Load() {
		return
	}
	step := a.settling(t, gate.End{Outcome: gate.Unknown, Time: a.now()}, nil)
	if err := Update(ctx, a.ledger, t.key, step); err != nil && !errors.Is(err, ErrNoSession) {
		a.log.Error("settling as unknown", "tool", t.tool, "call", t.Number, "error", err)
	}
}

// settling returns the step that settles.
func (a *Admission) settling(t *Ticket, e gate.End, events []audit.Event) func(*gate.State) (Change, error) {
	policy := a.Generation().Policy
	ended := policy.PrepareEnd(e)
	return func(s *gate.State) (Change, error) {
		if s.Policy() != policy { // it was replaced in between
			policy = s.Policy()
			ended = policy.PrepareEnd(e)
		}
		return Change{Delta: ended.Settle(s, t.Number), Events: events}, nil
	}
}

// ReadsResults reports whether the nets of the policy read the results of calls.
func (a *Admission) ReadsResults() bool { return a.Generation().Policy.ReadsResults() }
