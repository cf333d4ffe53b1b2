package proxy

import (
	"errors"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
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

// A settled value is what the record of an outcome says of a call.
type settled struct {
	session *session
	tool    string // canonical
	since   time.Time
}

func (t *toolCall) settled() settled { return settled{t.client.session, t.tool.canonical, t.gate.Time} }

// settle records how a call ended and then tells the nets. Where it cannot be
// recorded, no token is produced: the call stays open for an operator.
func (p *Proxy) settle(c settled, ticket *gate.Ticket, o gate.Outcome, by string) {
	now := p.options.Now()
	if p.recorder.Active() {
		err := p.recorder.Write(audit.Outcome{
			Time: now, Event: "outcome", Session: c.session.id, Call: ticket.Number,
			Tool: c.tool, Outcome: audit.OutcomeName(o), By: by,
			Millis: float64(now.Sub(c.since).Microseconds()) / 1000,
		})
		if err != nil {
			p.log.Error("the outcome stays unknown", "tool", c.tool, "call", ticket.Number, "error", err)
			o = gate.Unknown
		}
	}
	ticket.SettleAt(o, now)
	p.advisor.touch(c.session)
}

// takeBack ends a call that was allowed and is not made.
func (p *Proxy) takeBack(t *toolCall, ticket *gate.Ticket) {
	t.release()
	ticket.SettleAt(gate.Failure, p.options.Now())
	p.advisor.touch(t.client.session)
}
