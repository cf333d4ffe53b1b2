package pipeline

import (
	"errors"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// forward sends an admitted call to its server. The reply is handled on the goroutine that reads
// it: either the one that reads from the server, or the one that waits for the call.
func (p *Pipeline) forward(c *Call, pass admission.Pass) {
	u, ticket := c.Tool.Upstream, pass.Ticket()
	f := &inflightCall{Call: c, ticket: ticket, rev: u.Rev(), inflightState: inflightState{receiver: c}}
	c.plain = c.plain && f.rev == rev.Rev2025
	inline, stopped := c.setInflight(f, !u.OneReader())
	if stopped != nil { // the call was canceled before it was sent
		c.release(slot | taskSlot)
		p.settle(c.State, ticket, gate.End{Outcome: gate.Failure}, "")
		c.end(nil)
		return
	}
	if inline && c.outbox != nil { // the tool was not known when the call began
		c.outbox = nil // the goroutine that waits for the call reads the notifications itself, and blocks no other call
	}
	trace, answered := p.Admission.Watch.Forwarding(ticket)
	f.answered = answered
	request := f.request(trace)
	request.Again = f.checkResend
	if c.plain || !f.mayNeedResend() {
		c.dropMessage()
	}
	u.InFlight.Push(&f.QueuePlace, f)
	if inline {
		request.Here, request.Begin = true, f.begin
		u.Send(request)
		return
	}
	if reason := f.sent(u.Send(request)); reason != nil {
		f.Abandon(reason)
	}
}

// forwardAgain sends an admitted call again. If the policy has changed since the admission, it
// settles the call and lets the gate decide again.
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
	p.abandon(ticket) // settle may have failed to store the outcome
	switch {
	case !c.wanted():
		c.end(nil)
	case outdated:
		if c.admitting.Gate.Time = p.Life.Now(); p.admissible(c) {
			p.proceed(c, p.Admission.Decide(c.trace.context(p.Life.Ctx), c.admission())) // the call has already had its turn
		}
	default:
		c.refuse(p.Admission.RefuseError(p.Life.Ctx, c.admission(), err))
	}
}

// request returns the request in the form that the server's revision requires. trace returns the
// trace context for the request; trace is nil if the request is not traced.
func (f *inflightCall) request(trace func() (parent, state string)) upstream.Request {
	c := f.Call
	u := c.Tool.Upstream
	r := upstream.Request{Method: c.Method, Name: c.Tool.Name, Mirrored: c.Tool.Mirrored, Notify: f.onNotification, Deliver: func(r upstream.Reply) { f.end(r, true) }}
	hop := wire.Hop{Name: c.params.Name}
	if c.Method != spec.ReadResource {
		hop.Name = c.Tool.Name
	}
	if f.rev.PerRequest {
		hop.Meta = c.Client.WithLogLevel(c.Peer, c.Meta, u.RequestMeta(f.declared()))
		hop.InputResponses, hop.RequestState, hop.HasState = c.input.responses, c.input.state, c.input.hasState
	} else {
		r.Ask, r.Interrupted = f.onOwnRequest, f.onInterrupted
		if !c.plain {
			hop.Task = c.taskParams()
			f.asTask = hop.Task != nil
		}
	}
	if c.Meta.ProgressToken != nil {
		r.Token = u.NewToken()
		f.token = r.Token
		hop.ProgressToken = strconv.AppendInt(nil, r.Token, 10)
	}
	if trace != nil {
		joinTrace(&hop, trace)
	}
	r.Params = c.params.AppendForward(nil, hop)
	return r
}

// proceed continues the call according to the decision d.
func (p *Pipeline) proceed(c *Call, d admission.Decision) {
	switch d := d.(type) {
	case *admission.Admitted: // the decision has already been recorded
		p.Advertiser.Touch(c.State)
		p.forward(c, d.Pass())
	case *admission.Refused:
		c.release(slot | taskSlot)
		c.refuse(d)
	case *admission.Asked:
		c.release(slot | taskSlot | room)   // only running calls occupy a slot; from now on, the approval broker counts the call
		c.Spawn(func() { p.approve(c, d) }) // approve either forwards or answers the call
	}
}
