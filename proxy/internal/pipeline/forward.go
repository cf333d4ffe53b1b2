package pipeline

import (
	"context"
	"errors"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// forward sends an admitted call to its server. The reply is handled on the goroutine that reads
// it, which is either the server's reader or the goroutine that waits for the call.
func (p *Pipeline) forward(c *Call, pass admission.Pass) {
	u, ticket := c.Tool.Upstream, pass.Ticket()
	f := &inflightCall{Call: c, ticket: ticket, rev: u.Rev(), inflightState: inflightState{requestState: requestState{receiver: c}}}
	c.plain = c.plain && f.rev == rev.Rev2025
	inline, stopped := c.setInflight(f, !u.OneReader())
	if stopped != nil { // the call was canceled before it was sent
		c.release(slot | taskSlot)
		p.settle(c.State, ticket, gate.End{Outcome: gate.Failure}, "")
		c.end(nil)
		return
	}
	if inline && c.outbox != nil {
		c.outbox = nil // the waiting goroutine reads the notifications itself and may block, so it sends them directly
	}
	trace, answered := p.Admission.Watch.StartForward(ticket)
	f.answered = answered
	request := f.request(trace)
	request.Again = f.checkResend
	if c.plain || !f.mayNeedResend() {
		c.dropMessage()
	}
	u.InFlight.Push(&f.QueuePlace, f, p.Life.Now())
	if inline {
		request.Here, request.Begin = true, f.begin
		u.Send(request)
		return
	}
	if reason := f.markSent(u.Send(request)); reason != nil {
		f.Abandon(reason)
	}
}

// forwardAgain sends an admitted call again. If the call cannot be sent, forwardAgain records the
// failure. If the policy has changed since the call was admitted, it then asks the gate for a new
// decision. Otherwise, it refuses the call. It does neither if the client has stopped waiting.
func (p *Pipeline) forwardAgain(c *Call, ticket *admission.Ticket) {
	pass, err := ticket.NewPass(p.Life.Ctx, p.Admission)
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
	p.Admission.Abandon(context.Background(), ticket) // if the failure was not stored and will not be stored later, mark the outcome as unknown
	switch {
	case !c.isWanted():
		c.end(nil)
	case outdated:
		if c.admitting.Gate.Time = p.Life.Now(); p.admissible(c) {
			p.proceed(c, p.Admission.Decide(c.trace.context(p.Life.Ctx), c.admission())) // the call does not wait for its turn again
		}
	default:
		c.refuse(p.Admission.RefuseError(p.Life.Ctx, c.admission(), err))
	}
}

// request returns the request in the form required by the server's revision. trace returns the
// trace context of the call; it is nil if the call is not traced.
func (f *inflightCall) request(trace func() (parent, state string)) upstream.Request {
	c := f.Call
	u := c.Tool.Upstream
	r := upstream.Request{Method: c.Method, Name: c.Tool.Name, Mirrored: c.Tool.Mirrored, Notify: f.onNotification, Deliver: func(r upstream.Reply) { f.end(r, true) }}
	hop := wire.Hop{Name: c.params.Name}
	if c.Method != spec.ReadResource {
		hop.Name = c.Tool.Name
	}
	if f.rev.PerRequest {
		hop.Meta = c.Client.WithLogLevel(c.Peer, c.Meta, u.RequestMeta(f.declaredCapabilities()))
		hop.InputResponses, hop.RequestState, hop.HasState = c.input.responses, c.input.state, c.input.hasState
	} else {
		r.Ask, r.Interrupted = f.onOwnRequest, f.onInterrupted
		if !c.plain {
			if hop.Task = c.params.Task; c.mustSendAsTask() {
				hop.Task = []byte(`{}`)
			}
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

// proceed forwards or refuses the call, or asks a person about it, according to the decision d.
func (p *Pipeline) proceed(c *Call, d admission.Decision) {
	switch d := d.(type) {
	case *admission.Admitted: // the decision has already been recorded
		p.Advertiser.Touch(c.State)
		p.forward(c, d.Pass)
	case *admission.Refused:
		c.release(slot | taskSlot)
		c.refuse(d)
	case *admission.Asked:
		c.release(slot | taskSlot | room) // while the call waits for a person, only the limits of the approval broker apply to it
		c.Spawn(func() {
			if c.trace != nil {
				c.trace.approvalEnd = p.Admission.Watch.StartApproval(c.trace.ctx, c.admission())
			}
			(&askedCall{p, c, d}).ask(nil)
		})
	}
}

// Abandon stops waiting for the reply and cancels the request at the server, unless the reply has
// already arrived. If Abandon is called more than once, the first reason is used.
func (f *inflightCall) Abandon(reason error) {
	x, first, reason := f.markAbandoned(reason)
	if x == nil {
		return
	}
	if first {
		f.Call.Tool.Upstream.Abandoned.Add(f.Call.Client.Session, 1)
		x.Cancel(reason.Error())
	}
	f.end(upstream.Reply{Err: reason}, false)
}

// Cancel ends a call whose client has sent notifications/cancelled or disconnected. If the call has
// not been sent to the server yet, it never will be.
func (c *Call) Cancel(reason error) {
	stop, f := c.markCanceled(reason)
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.Abandon(reason)
	}
}

// end ends the in-flight request with the reply r, and passes r to the call that waits for it. If
// the request has already ended, a reply from the server counts as late. fromServer is false if the
// proxy abandons the request.
func (f *inflightCall) end(r upstream.Reply, fromServer bool) {
	u, before := f.Call.Tool.Upstream, f.markEnded(r, fromServer)
	if before.counted && fromServer {
		u.Abandoned.Add(f.Call.Client.Session, -1)
	}
	switch {
	case before.stage == settled && fromServer:
		f.settleLate(r)
		return
	case before.stage != pending:
		return
	}
	u.InFlight.Remove(&f.QueuePlace)
	c := f.Call
	c.pipeline.Admission.Watch.Forwarded(u.Config.Name, c.recorded, c.Method, c.pipeline.Life.Now().Sub(f.SentAt), r.Err)
	if f.answered != nil {
		f.answered(resultOf(r))
	}
	for _, q := range before.requests {
		q.Refuse(wire.CodeInternal, callOver)
	}
	abandoned := r.Err != nil && r.Err == before.reason
	if !c.plain {
		if abandoned && f.mayNeedResend() {
			c.dropMessage() // the message is not needed, because the call will not be sent again
		}
		f.taskFromReply(r)
	}
	if c.claims.Load() != 0 {
		c.release(slot | taskSlot)
	}
	switch to := before.receiver; {
	case to == nil:
		f.settleParked(r)
	case before.inline && abandoned: // the waiting goroutine is busy with the request and cannot respond
		to.ownStream().close()
		f.finish(to, r, nil)
		to.detach()
	default:
		f.delaysExit.Store(c.pipeline.Life.Unrecorded.Begin())
		if !to.sendToWaiter(completion{inflight: f, reply: r}) {
			f.finish(to, r, &u.Burst)
		}
	}
}

// finish records the outcome of the request, and then responds to the client that made the call c.
// It runs on the goroutine that waits for the call, or on the one that ended the request. If the
// call becomes a task or waits for the client's input, its outcome is recorded later. The outcomes
// of replies that were read in one burst are recorded together.
func (f *inflightCall) finish(c *Call, r upstream.Reply, together *burst.Burst) {
	p := c.pipeline
	open, staged := false, false // open: the outcome is recorded later; staged: e.Continue closes the request
	defer func() {
		if !staged {
			f.close(open)
		}
	}()
	defer p.Life.Recover(c.Method, c.ID, c.Stream)
	if r.Err != nil {
		r.Err = f.cause(r.Err)
	}
	facts := f.facts(r)
	switch {
	case f.Call.plain:
	case f.becomesTask(r):
		open = true
		f.continueAsTask(c)
		return
	case f.wantsInput(r, facts):
		open = f.continueWithInput(c, r.Result)
		return
	}
	e := &ending{inflight: f, call: c, reply: r, facts: facts}
	e.settling = p.Admission.StageEnd(context.Background(), f.ticket, p.endOf(f.ticket, outcome(r, facts), r.Result), "") // use the background context, because the end must be recorded even during shutdown
	staged = true
	if !together.Add(e) {
		c.yield()
		e.Continue()
	}
}

// facts returns the properties of the reply that determine how the call ended. A successful result
// that is not strict JSON counts as broken. If the outcome can change a net's marking, facts checks
// every level of the result. Otherwise, it checks only the top-level members.
func (f *inflightCall) facts(r upstream.Reply) wire.Facts {
	facts := wire.ResultFacts(r.Result)
	if f.ticket.Awaited && facts.Success() && rawjson.Check(r.Result, rawjson.MaxDepth) != nil {
		facts.Broken = true
	}
	return facts
}

// outcome returns the outcome of a reply, as the nets see it. Only a complete, strictly parsed
// result without an error counts as a success. A call without a reply counts as a failure only if
// the server certainly never started it. If the server died during the call, the call might have
// had an effect.
func outcome(r upstream.Reply, facts wire.Facts) gate.Outcome {
	switch {
	case r.Err == nil && r.Error == nil && facts.Success():
		return gate.Success
	case r.Err == nil && facts.IsHandle(): // the work continues as a task, which the proxy cannot track
		return gate.Unknown
	case r.Err == nil, neverRan(r.Err):
		return gate.Failure
	default:
		return gate.Unknown
	}
}

// endOf returns a description of the call's end for the gate. After a success, it includes the
// parts of the result that the policy reads.
func (p *Pipeline) endOf(ticket *admission.Ticket, o gate.Outcome, result []byte) gate.End {
	e := gate.End{Outcome: o}
	if o != gate.Success {
		return e
	}
	value, text := p.Admission.ReadsResult(ticket)
	if value {
		e.Result = wire.ResultValue(result)
	}
	if text {
		e.Text = wire.ResultText(result)
	}
	return e
}

// close must be called at the end of a request. It lets the proxy exit without waiting for the
// request, and records the outcome of a late reply. open is true if the outcome of the call will be
// recorded later. If open is false and a panic has prevented the recording of the outcome, close
// marks the outcome as unknown.
func (f *inflightCall) close(open bool) {
	if !open {
		f.Call.pipeline.Admission.Abandon(context.Background(), f.ticket)
	}
	f.allowExit()
	if late := f.markSettled(); late != nil {
		f.settleLate(*late)
	}
}

// allowExit lets the proxy exit without waiting for this request. It is called when the outcome has
// been recorded, or when the call continues without this request.
func (f *inflightCall) allowExit() {
	if f.delaysExit.Swap(false) {
		f.Call.pipeline.Life.Unrecorded.Done()
	}
}

// An ending is the end of a call that the gate already knows but that has not been recorded yet. It
// implements [burst.Step].
type ending struct {
	inflight *inflightCall
	call     *Call // call whose client gets the response
	reply    upstream.Reply
	facts    wire.Facts
	settling *admission.Settling
}

// Continue responds to the client once the end of the call has been recorded.
func (e *ending) Continue() {
	c := e.call
	defer e.inflight.close(false)
	defer c.pipeline.Life.Recover(c.Method, c.ID, c.Stream)
	e.settling.Wait()
	e.inflight.allowExit()
	c.pipeline.Advertiser.Touch(e.inflight.Call.State)
	c.deliver(e.reply, e.facts)
}

// settleParked records the outcome of a request that ended while the client was being asked for
// input, unless the call has become a task.
func (f *inflightCall) settleParked(r upstream.Reply) {
	p := f.Call.pipeline
	if f.handle != nil {
		return
	}
	defer f.close(false)
	p.settle(f.Call.State, f.ticket, p.endOf(f.ticket, outcome(r, f.facts(r)), r.Result), "")
}

// settleLate handles a reply that arrives after the call has been answered or canceled. It records
// the outcome, unless the outcome remains unknown or the call has become a task.
func (f *inflightCall) settleLate(r upstream.Reply) {
	c := f.Call
	defer c.pipeline.Life.Recover(c.Method, c.ID, c.Stream)
	if f.taskFromReply(r); f.handle != nil { // the outcome is recorded when the task ends
		return
	}
	if e := c.pipeline.endOf(f.ticket, outcome(r, f.facts(r)), r.Result); e.Outcome != gate.Unknown {
		c.pipeline.Life.Log.Info("late answer", "tool", c.Tool.Canonical, "call", f.ticket.Number, "outcome", e.Outcome.String())
		c.pipeline.settle(c.State, f.ticket, e, "late answer")
	}
}

// settle records the end of a call in session s, and then updates the nets.
func (p *Pipeline) settle(s *session.Session, ticket *admission.Ticket, e gate.End, by string) {
	p.Admission.Settle(context.Background(), ticket, e, by) // use the background context, because the end must be recorded even during shutdown
	p.Advertiser.Touch(s)
}

// SettleTask records the outcome of a call that has become a task. If the task has succeeded,
// result is its result.
func (p *Pipeline) SettleTask(of tasks.Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string) {
	p.settle(of.State, ticket, p.endOf(ticket, o, result), by)
}
