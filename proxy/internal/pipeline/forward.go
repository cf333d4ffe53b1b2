package pipeline

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// forward sends a call to its server by a pass of the admission. The reply is handled where
// it is read: on the goroutine that reads from the server, or on that of the client that
// waits for it.
func (p *Pipeline) forward(c *Call, pass admission.Pass) {
	u, ticket := c.Tool.Upstream, pass.Ticket()
	f := &inflightCall{Call: c, ticket: ticket, rev: u.Rev(), inflightState: inflightState{receiver: c}}
	inline, stopped := c.setInflight(f, !u.OneReader())
	if stopped != nil { // it is never sent
		c.release()
		p.settle(c.State, ticket, gate.End{Outcome: gate.Failure}, "")
		c.conclude(func() {})
		return
	}
	if inline && c.outbox != nil { // its tool was not known before
		c.outbox = nil // the client's goroutine reads the notifications itself, and keeps nobody else waiting
	}
	trace, answered := p.Admission.Watch().Forwarding(ticket)
	f.answered = answered
	request := f.request(trace)
	request.Again = f.mayGoAgain
	if !f.mayRepeat() {
		c.dropMessage()
	}
	f.SentAt = time.Now()
	u.InFlight.Push(f)
	if inline {
		request.Here, request.Begin = true, f.begin
		u.Send(request)
		return
	}
	if reason := f.sent(u.Send(request)); reason != nil {
		f.Abandon(reason)
	}
}

// forwardAgain sends an admitted call once more. Where the policy has changed since it was
// admitted, that call is over, and the gate decides on the rest anew.
func (p *Pipeline) forwardAgain(c *Call, ticket *admission.Ticket) {
	pass, err := ticket.Again(p.Life.Ctx, p.Admission)
	if err == nil {
		p.forward(c, pass)
		return
	}
	outdated := errors.Is(err, admission.ErrOutdated)
	by := "not sent again"
	if outdated {
		by = "policy changed"
	}
	p.settle(c.State, ticket, gate.End{Outcome: gate.Failure}, by)
	p.abandon(ticket) // where that cannot be stored
	switch {
	case !c.wanted():
		c.conclude(func() {})
	case outdated:
		if c.admitting.Gate.Time = p.Life.Now(); p.admissible(c) {
			p.proceed(c, p.Admission.Decide(c.trace.context(p.Life.Ctx), c.admission())) // it had its turn
		}
	default:
		c.refuse(p.Admission.Unmade(p.Life.Ctx, c.admission(), err))
	}
}

// mayGoAgain returns why the call is not sent again to a server that has forgotten the
// session of the first send; nil: it may be.
func (f *inflightCall) mayGoAgain() error {
	c := f.Call
	_, err := f.ticket.Again(c.pipeline.Life.Ctx, c.pipeline.Admission)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, admission.ErrOutdated):
		r := PlainRefusal("policy-changed", fmt.Sprintf("The policy changed before %s could be sent again to the upstream %s, which has not run it. Call it again to have it decided anew.", c.Tool.Exposed, c.Tool.Upstream.Config.Name))
		c.pipeline.RecordRefusal(c, r)
		return &notAgain{r}
	default:
		return &notAgain{refusal{c.pipeline.Admission.Unmade(c.pipeline.Life.Ctx, c.admission(), err)}}
	}
}

// A notAgain is the error of a call that may not be sent again, with what its client is told.
type notAgain struct{ refusal }

func (e *notAgain) Error() string { return e.Text }

// mayRepeat reports whether the call may have to be sent again with the input that its
// server asks for, because the client knows no InputRequiredResult (2026-07-28).
func (f *inflightCall) mayRepeat() bool {
	return f.rev.InputRequired && !f.Call.Peer.Rev.InputRequired
}

// mayRepeat reports the same of a call that is not sent yet.
func (c *Call) mayRepeat() bool {
	return !c.Peer.Rev.InputRequired && c.Tool.Upstream.Rev().InputRequired
}

// request returns the call in the revision of its server, which joins the trace; nil:
// there is none.
func (f *inflightCall) request(trace func() (parent, state string)) upstream.Request {
	c := f.Call
	u := c.Tool.Upstream
	r := upstream.Request{Method: c.Method, Name: c.Tool.Name, Mirrored: c.Tool.Mirrored, Notify: f.onNotification, Deliver: f.onReply}
	hop := wire.Hop{Name: c.params.Name}
	if c.Method != spec.ReadResource {
		hop.Name = c.Tool.Name
	}
	if f.rev.PerRequest {
		hop.Meta = c.Client.WithLogLevel(c.Peer, c.Meta, u.RequestMeta(f.declared()))
		hop.InputResponses, hop.RequestState, hop.HasState = c.input.responses, c.input.state, c.input.hasState
	} else {
		r.Ask, r.Interrupted = f.onOwnRequest, f.onInterrupted
		hop.Task = c.taskParams()
		f.asTask = hop.Task != nil
	}
	if c.Meta.ProgressToken != nil {
		r.Token = u.NewToken()
		f.token = r.Token
		hop.ProgressToken = strconv.AppendInt(nil, r.Token, 10)
	}
	joinTrace(&hop, trace)
	r.Params = c.params.AppendForward(nil, hop)
	return r
}
