package proxy

import (
	"errors"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// outcome is what a reply means for the nets. Only a whole, strictly read
// result without an error is a success; only a proof that nothing runs any
// more makes a lost call a failure.
func outcome(r upstream.Reply) gate.Outcome {
	var lost *upstream.Lost
	switch {
	case r.Err == nil && r.Error == nil && wire.Success(r.Result):
		return gate.Success
	case r.Err == nil:
		return gate.Failure
	case errors.Is(r.Err, upstream.ErrNotSent):
		return gate.Failure
	case errors.As(r.Err, &lost) && lost.Dead:
		return gate.Failure
	default:
		return gate.Unknown
	}
}

// settle records how a call ended and then tells the nets. Where it cannot be
// recorded, no token is produced: the call stays open for an operator.
func (p *Proxy) settle(t *toolCall, ticket *gate.Ticket, o gate.Outcome, by string) {
	if p.recorder.active() {
		err := p.recorder.write(outcomeRecord{
			Time: p.options.Now(), Event: "outcome", Session: t.client.session.id, Call: ticket.Number,
			Tool: t.tool.canonical, Outcome: outcomeName(o), By: by,
			Millis: float64(p.options.Now().Sub(t.gate.Time).Microseconds()) / 1000,
		})
		if err != nil {
			p.log.Error("the outcome stays unknown", "tool", t.tool.canonical, "call", ticket.Number, "error", err)
			o = gate.Unknown
		}
	}
	ticket.Settle(o)
}

// settleLate leaves a call unknown, and settles it if its reply comes after
// all. The client has had its answer by then.
func (p *Proxy) settleLate(t *toolCall, ticket *gate.Ticket, x *upstream.Exchange) {
	p.settle(t, ticket, gate.Unknown, "")
	p.background(func() {
		select {
		case r := <-x.Done():
			if o := outcome(r); o != gate.Unknown {
				p.log.Info("late answer", "tool", t.tool.canonical, "call", ticket.Number,
					"outcome", outcomeName(o), "after", p.options.Now().Sub(t.gate.Time).Round(time.Millisecond))
				p.settle(t, ticket, o, "late answer")
			}
		case <-p.ctx.Done():
		}
	})
}
