package admission

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
)

// Pass is the permission to send an admitted call to its upstream once. It is obtained from
// [Admitted] or [Ticket.NewPass].
type Pass struct{ ticket *Ticket }

// Ticket returns the call's ticket.
func (p Pass) Ticket() *Ticket { return p.ticket }

// ErrOutdated is returned by [Ticket.NewPass] if the policy or the set of active nets has changed
// since the call was admitted.
var ErrOutdated = errors.New("the policy has changed since the call was admitted")

// NewPass returns a pass for sending an admitted call once more, for example after the upstream has
// asked for input. The error is [ErrStopped] if the session is stopped. It is [ErrOutdated] if the
// policy or the set of active nets has changed since the call was admitted. After either error, the
// caller settles the call as a failure, and can submit it for a new decision.
func (t *Ticket) NewPass(ctx context.Context, a *Admission) (Pass, error) {
	for {
		g := a.generation.Load()
		err := Update(ctx, a.ledger, t.Key, func(s *gate.State) (Change, error) {
			switch {
			case s.Policy() != g.Policy:
				return Change{}, errSwapped
			case a.StopOf(t.Session) != nil:
				return Change{}, ErrStopped
			case t.Policy != g.identity:
				return Change{}, ErrOutdated
			}
			return Change{Admits: true}, nil
		})
		if !errors.Is(err, errSwapped) {
			if err == nil && t.judge == nil { // another process admitted the call, under the policy that is now in force
				t.judge = g
			}
			return Pass{t}, err
		}
		a.generation.awaitSwap()
	}
}
