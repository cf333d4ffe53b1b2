package pipeline

import (
	"context"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// settle records how one of the session's calls ended and then updates the nets.
func (p *Pipeline) settle(s *session.Session, ticket *admission.Ticket, e gate.End, by string) {
	p.Admission.Settle(context.Background(), ticket, e, by) // also during shutdown
	p.Advertiser.Touch(s)
}

// abandon settles a call as unknown unless it has already been settled.
func (p *Pipeline) abandon(ticket *admission.Ticket) {
	p.Admission.Abandon(context.Background(), ticket)
}

// SettleTask settles a call that became a task. If the task succeeded, result is its result.
func (p *Pipeline) SettleTask(of tasks.Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string) {
	p.settle(of.State, ticket, p.endOf(o, result), by)
}
