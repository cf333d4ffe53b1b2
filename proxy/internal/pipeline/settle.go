package pipeline

import (
	"context"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// settle records how a call of the session has ended, and then updates the nets.
func (p *Pipeline) settle(s *session.Session, ticket *admission.Ticket, e gate.End, by string) {
	p.Admission.Settle(context.Background(), ticket, e, by) // a background context, because the end must be recorded during shutdown, too
	p.Advertiser.Touch(s)
}

// abandon settles a call with the outcome unknown, unless it has already been settled.
func (p *Pipeline) abandon(ticket *admission.Ticket) {
	p.Admission.Abandon(context.Background(), ticket)
}

// SettleTask settles a call that has become a task. If the task has succeeded, result is the result
// of the task.
func (p *Pipeline) SettleTask(of tasks.Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string) {
	p.settle(of.State, ticket, p.endOf(ticket, o, result), by)
}
