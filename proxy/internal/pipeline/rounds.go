package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// resume continues an admitted call that was suspended while its client provided input. It returns
// true if the gate must still decide the call, and false if the call has been continued or refused.
func (p *Pipeline) resume(c *Call) bool {
	c.readInput()
	if c.input.suspended == "" {
		return true
	}
	c.Turn.Release() // the gate has already admitted the call, so the principal's other messages need not wait until the server replies
	x, err := p.pickUp(c)
	if x != nil && x.approved != nil { // send the _meta that a person approved, because the client may have changed it
		c.approved, c.params = x.approved, c.params.WithMetaShown(x.approved.Meta)
	}
	switch {
	case err != nil:
		c.answer(refusal{p.Admission.RefuseError(p.Life.Ctx, c.admission(), err)})
	case x == nil && c.Tool.Upstream.Rev().InputRequired:
		return true // the requestState was already used, so this is a new call for the gate to decide
	case x == nil && c.input.elsewhere:
		c.answerError(wire.CodeInvalidParams, "requestState belongs to a call that is waiting at another petrigate process, with its own connection to the upstream; send it there, or call "+c.Tool.Exposed+" again without it.")
	case x == nil:
		c.answerError(wire.CodeInvalidParams, "requestState belongs to a call that has ended; call "+c.Tool.Exposed+" again without it.")
	case x.inflight != nil:
		x.inflight.attach(c, x)
	default:
		p.forwardAgain(c, x.ticket)
	}
	return false
}

// continueWithInput asks the client for the input requested by an InputRequiredResult. If the call
// cannot continue, it records the failure, tells the client the reason, and returns false.
func (f *inflightCall) continueWithInput(c *Call, result []byte) bool {
	why := f.askForInput(c, result)
	if why == "" {
		return true
	}
	f.Call.pipeline.settle(f.Call.State, f.ticket, gate.End{Outcome: gate.Failure}, "")
	c.answer(unansweredRefusal("unsupported", gate.Failure, why))
	return false
}

// askForInput sends the inputRequests of a result to the client. It returns the reason why the call
// cannot continue, or "" if it can.
func (f *inflightCall) askForInput(c *Call, result []byte) (why string) {
	p, name := f.Call.pipeline, c.Tool.Upstream.Config.Name
	if c.input.round >= maxInputRounds {
		return fmt.Sprintf("The upstream %s asked for input more than %d times.", name, maxInputRounds)
	}
	requests, err := spec.InputRequests(result)
	if err == nil {
		err = checkSupported(c.Peer, requests)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("The upstream %s asked for input that is not available: %v.", name, err)
	case c.Peer.Rev.InputRequired:
		return f.suspend(c, result)
	}
	c.continueOff(serverReader, func() { p.askRound(f, c, requests, result) })
	return ""
}

// askRound sends the server's requests for input to a client that uses revision 2025-11-25. It then
// sends the call to the server again, with the responses. The gate still sees one call.
func (p *Pipeline) askRound(f *inflightCall, c *Call, requests []spec.InputRequest, result []byte) {
	responses, err := p.askAll(c, requests)
	if err != nil {
		p.settle(c.State, f.ticket, gate.End{Outcome: gate.Failure}, "no input")
		if c.isWanted() {
			c.answer(unansweredRefusal("unsupported", gate.Failure, fmt.Sprintf("%s did not complete: %v.", c.Tool.Exposed, err)))
		} else {
			c.end(nil)
		}
		return
	}
	c.input = input{responses: responses, round: c.input.round + 1, ours: true}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		c.input.state, c.input.hasState = rawjson.String(lit)
	}
	p.forwardAgain(c, f.ticket)
}

// suspend forwards an InputRequiredResult to a client that uses revision 2026-07-28. It stores the
// call until the client sends it again with the responses. If the call cannot be stored, suspend
// returns the reason; otherwise, it returns "".
func (f *inflightCall) suspend(c *Call, result []byte) (why string) {
	p := f.Call.pipeline
	x := &suspendedCall{id: lifetime.RandomID(""), ticket: f.ticket, call: f.Call, approved: f.Call.approved}
	r := seal.Round{Number: c.input.round + 1, Pause: x.id, Expires: p.Life.Now().Add(p.Approval.Expire)}
	switch err := p.storeSuspended(c, x, r.Expires); {
	case errors.Is(err, rounds.ErrFull):
		return "Too many calls are waiting for input."
	case err != nil:
		p.Life.Log.Error("cannot store a call until its input arrives", "tool", c.Tool.Canonical, "call", f.ticket.Number, "error", err)
		return fmt.Sprintf("The upstream %s asked for input, but petrigate cannot store the call until it arrives.", c.Tool.Upstream.Config.Name)
	}
	if c.approved != nil {
		r.Beside = c.approved.Beside
	}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		state, _ := rawjson.String(lit)
		r.State = &state
	}
	state := rawjson.AppendString(nil, p.Sealer.Seal(r, c.subject())) // the client gets this sealed requestState instead of the server's own
	c.replyRaw(wire.ResultHead(c.ID), wire.SetMember(c.Tool.Upstream.WithServerNames(result), "requestState", state))
	return ""
}

// storeSuspended stores a call until its client provides the input. It returns [rounds.ErrFull] if
// too many calls are stored.
func (p *Pipeline) storeSuspended(c *Call, x *suspendedCall, expires time.Time) error {
	several := p.Sessions.SeveralPrincipals.Load()
	switch {
	case p.Rounds != nil:
		return p.Rounds.Keep(x.id, c.subject(), several, rounds.Round{Ticket: x.ticket, Approved: x.approved, Expires: expires})
	case p.suspended.add(x, several, p.Approval.Expire, p.settleExpired):
		return nil
	}
	return rounds.ErrFull
}

// pickUp removes and returns the suspended call that the client has sent again as c. It returns nil
// if that call is no longer suspended, for example because another process has already continued
// it. After an error, such as [admission.ErrStopped], the call stays suspended.
func (p *Pipeline) pickUp(c *Call) (*suspendedCall, error) {
	if p.Admission.StopOf(c.State.ID) != nil {
		return nil, admission.ErrStopped
	}
	x := p.suspended.take(c.input.suspended)
	if x != nil || p.Rounds == nil {
		return x, nil
	}
	r, err := p.Rounds.Take(c.State.Key(), c.input.suspended, c.subject())
	if r == nil {
		return nil, err
	}
	return &suspendedCall{ticket: r.Ticket, approved: r.Approved}, nil
}

// settleExpired records the failure of a call whose client did not return with the input. Nothing
// needs to be canceled at the server: it uses revision 2026-07-28, and the request to it ended with
// the InputRequiredResult.
func (p *Pipeline) settleExpired(x *suspendedCall) {
	p.Life.Log.Info("the client did not provide the requested input", "tool", x.call.Tool.Canonical, "call", x.ticket.Number)
	p.settle(x.call.State, x.ticket, gate.End{Outcome: gate.Failure}, "no input")
	p.Admission.Abandon(context.Background(), x.ticket)
}
