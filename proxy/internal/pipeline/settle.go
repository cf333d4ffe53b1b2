package pipeline

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// outcome returns what a reply means for the nets. Only a whole, strictly parsed result
// without an error is a success. A call without a reply is a failure only if it is proven
// that the server has not begun it: one that died in the middle may have had an effect.
func outcome(r upstream.Reply, facts wire.Facts) gate.Outcome {
	switch {
	case r.Err == nil && r.Error == nil && facts.Success():
		return gate.Success
	case r.Err == nil && facts.Handle(): // the work goes on where the proxy cannot follow it
		return gate.Unknown
	case r.Err == nil, neverRan(r.Err):
		return gate.Failure
	default:
		return gate.Unknown
	}
}

// neverRan reports whether err proves that the server has not begun the call.
func neverRan(err error) bool {
	var status *upstream.StatusError
	return errors.Is(err, upstream.ErrNotSent) || errors.As(err, &status) && !status.Executed()
}

// ended returns how a call ended by its reply, with what the result says where a net
// reads that.
func (p *Pipeline) ended(r upstream.Reply, facts wire.Facts) gate.End {
	return p.returned(outcome(r, facts), r.Result)
}

// returned is the end of a call with the parts of a successful result that the policy reads.
func (p *Pipeline) returned(o gate.Outcome, result []byte) gate.End {
	e := gate.End{Outcome: o}
	if o == gate.Success && p.Admission.ReadsResults() {
		e.Result = wire.ResultValue(result)
	}
	if o == gate.Success && p.Admission.Generation().Policy.JudgesResults() {
		e.Text = wire.ResultText(result)
	}
	return e
}

// settle records how a call of the session ended, and then tells the nets.
func (p *Pipeline) settle(s *session.Session, ticket *admission.Ticket, e gate.End, by string) {
	p.Admission.Settle(context.Background(), ticket, e, by) // also while the proxy ends
	p.Advertiser.Touch(s)
}

// abandon settles a call as unknown unless it is settled.
func (p *Pipeline) abandon(ticket *admission.Ticket) {
	p.Admission.Abandon(context.Background(), ticket)
}

// afterSettling notes that the end of the call is settled. A reply that came since then is
// the last word.
func (f *inflightCall) afterSettling() {
	if late := f.markSettled(); late != nil {
		f.settleLate(*late)
	}
}

// settleParked settles a call whose client has not come back with the next round.
func (f *inflightCall) settleParked(r upstream.Reply) {
	p := f.Call.pipeline
	if f.handle != nil {
		return
	}
	defer f.afterSettling()
	defer p.abandon(f.ticket)
	p.settle(f.Call.State, f.ticket, p.ended(r, f.facts(r)), "")
}

// settleLate settles a call whose client was told that the outcome is unknown.
func (f *inflightCall) settleLate(r upstream.Reply) {
	c := f.Call
	defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
	if f.taskFromReply(r); f.handle != nil { // its end settles the call
		return
	}
	if e := c.pipeline.ended(r, f.facts(r)); e.Outcome != gate.Unknown {
		c.pipeline.Life.Log.Info("late answer", "tool", c.Tool.Canonical, "call", f.ticket.Number, "outcome", e.Outcome.String())
		c.pipeline.settle(c.State, f.ticket, e, "late answer")
	}
}
