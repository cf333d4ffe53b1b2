package pipeline

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// outcome is what a reply means for the nets. Only a whole, strictly read
// result without an error is a success; only a proof that nothing runs any
// more makes a lost call a failure.
func outcome(r upstream.Reply, facts wire.Facts) gate.Outcome {
	var lost *upstream.Lost
	var status *upstream.StatusError
	switch {
	case r.Err == nil && r.Error == nil && facts.Success():
		return gate.Success
	case r.Err == nil && facts.Handle(): // the work goes on where we cannot follow it
		return gate.Unknown
	case r.Err == nil:
		return gate.Failure
	case errors.Is(r.Err, upstream.ErrNotSent):
		return gate.Failure
	case errors.As(r.Err, &lost) && lost.Dead:
		return gate.Failure
	case errors.As(r.Err, &status) && !status.Executed():
		return gate.Failure
	default:
		return gate.Unknown
	}
}

// settle records how a call of the session ended, and then tells the nets.
func (p *Pipeline) settle(s *session.Session, ticket *admission.Ticket, o gate.Outcome, by string) {
	p.Admission.Settle(context.Background(), ticket, o, by) // also while the proxy ends
	p.Advertiser.Touch(s)
}

// abandon settles a call as unknown unless it is settled.
func (p *Pipeline) abandon(ticket *admission.Ticket) {
	p.Admission.Abandon(context.Background(), ticket)
}
