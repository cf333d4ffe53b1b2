package admission

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A Pass lets an admitted call be sent to its upstream once. Only an [Admitted] decision and
// [Ticket.Again] give a pass.
type Pass struct{ ticket *Ticket }

// Pass returns the pass for the first send of the call.
func (d *Admitted) Pass() Pass { return Pass{&d.Ticket} }

// Ticket returns the ticket of the call.
func (p Pass) Ticket() *Ticket { return p.ticket }

// ErrOutdated is the error of [Ticket.Again] where another policy is in force than the
// one that admitted the call.
var ErrOutdated = errors.New("the policy has changed since the call was admitted")

// Again returns a pass for one more send of an admitted call: another round of input, a task
// in place of a result, a session that the upstream has forgotten. The error is [ErrStopped]
// while the session is stopped, also by another process, and [ErrOutdated] where the policy
// in force has not decided on the call: the caller then settles the call as a failure, and
// may have it decided anew.
func (t *Ticket) Again(ctx context.Context, a *Admission) (Pass, error) {
	for {
		g := a.generation.Load()
		err := Update(ctx, a.ledger, t.key, func(s *gate.State) (Change, error) {
			switch {
			case s.Policy() != g.Policy:
				return Change{}, errSwapped
			case a.Stopped(t.key.Session) != nil:
				return Change{}, ErrStopped
			case t.policy != g.identity():
				return Change{}, ErrOutdated
			}
			return Change{Admits: true}, nil
		})
		if !errors.Is(err, errSwapped) {
			return Pass{t}, err
		}
		a.generation.awaitSwap()
	}
}

// identity tells apart generations that may decide differently: by their nets, and by
// which of these are active.
func (g *Generation) identity() string {
	if len(g.Active) == len(g.Policy.Nets()) || g.Active == nil {
		return g.Fingerprint
	}
	return g.Fingerprint + " " + strings.Join(slices.Sorted(slices.Values(g.Active)), " ")
}
