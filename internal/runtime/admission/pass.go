package admission

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
)

// Pass permits sending an admitted call to its upstream once. Only [Admitted.Pass] and
// [Ticket.Again] return a Pass.
type Pass struct{ ticket *Ticket }

// Pass returns the pass for sending the call the first time.
func (d *Admitted) Pass() Pass { return Pass{&d.Ticket} }

// Ticket returns the call's ticket.
func (p Pass) Ticket() *Ticket { return p.ticket }

// ErrOutdated is the error of [Ticket.Again] if another policy has replaced the one that admitted
// the call.
var ErrOutdated = errors.New("the policy has changed since the call was admitted")

// Again returns a pass for sending an admitted call once more: for another round of input, for a
// task instead of a result, or because the upstream has forgotten its session. The error is
// [ErrStopped] while any process has stopped the session. It is [ErrOutdated] if the policy in
// force is not the one that admitted the call. The caller then settles the call as a failure, and
// may submit it for a new decision.
func (t *Ticket) Again(ctx context.Context, a *Admission) (Pass, error) {
	for {
		g := a.generation.Load()
		err := Update(ctx, a.ledger, t.Key(), func(s *gate.State) (Change, error) {
			switch {
			case s.Policy() != g.Policy:
				return Change{}, errSwapped
			case a.Stopped(t.Session) != nil:
				return Change{}, ErrStopped
			case t.Policy != g.identity():
				return Change{}, ErrOutdated
			}
			return Change{Admits: true}, nil
		})
		if !errors.Is(err, errSwapped) {
			if err == nil && t.judge == nil { // another process has admitted the call under the same policy
				t.judge = g.Policy
			}
			return Pass{t}, err
		}
		a.generation.awaitSwap()
	}
}
