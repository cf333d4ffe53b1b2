package pipeline

import (
	"context"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// settle records how a call of the session ended, and then updates the nets.
func (p *Pipeline) settle(s *session.Session, ticket *admission.Ticket, e gate.End, by string) {
	p.Admission.Settle(context.Background(), ticket, e, by) // also during shutdown
	p.Advertiser.Touch(s)
}

// abandon settles a call as unknown unless it is settled already.
func (p *Pipeline) abandon(ticket *admission.Ticket) {
	p.Admission.Abandon(context.Background(), ticket)
}

// settleParked settles a call whose client has not returned with the next round.
func (f *inflightCall) settleParked(r upstream.Reply) {
	p := f.Call.pipeline
	if f.handle != nil {
		return
	}
	defer f.close(false)
	p.settle(f.Call.State, f.ticket, p.endOf(outcome(r, f.facts(r)), r.Result), "")
}

// settleLate settles a call whose client was told that the outcome is unknown.
func (f *inflightCall) settleLate(r upstream.Reply) {
	c := f.Call
	defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
	if f.taskFromReply(r); f.handle != nil { // the end of the task settles the call
		return
	}
	if e := c.pipeline.endOf(outcome(r, f.facts(r)), r.Result); e.Outcome != gate.Unknown {
		c.pipeline.Life.Log.Info("late answer", "tool", c.Tool.Canonical, "call", f.ticket.Number, "outcome", e.Outcome.String())
		c.pipeline.settle(c.State, f.ticket, e, "late answer")
	}
}

// SettleTask settles the call that became a task. result is the result of a successful one.
func (p *Pipeline) SettleTask(of tasks.Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string) {
	p.settle(of.State, ticket, p.endOf(o, result), by)
}
