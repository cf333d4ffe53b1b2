package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Abandon stops waiting for the reply and cancels the request at the server, unless the reply has
// already arrived. If Abandon is called several times, the first reason counts.
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

// Cancel ends a call after its client has sent notifications/cancelled or disconnected. If the call
// has not been sent, it will not be sent.
func (c *Call) Cancel(reason error) {
	stop, f := c.cancelled(reason)
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.Abandon(reason)
	}
}

// end ends the request in flight with the reply r, unless it has already ended, and completes the
// call that receives the answer. fromServer tells whether the server sent r; if not, the request is
// abandoned.
func (f *inflightCall) end(r upstream.Reply, fromServer bool) {
	u, e := f.Call.Tool.Upstream, f.markEnded(r, fromServer)
	if e.counted && fromServer {
		u.Abandoned.Add(f.Call.Client.Session, -1)
	}
	switch {
	case e.before == settled && fromServer:
		f.settleLate(r)
		return
	case e.before != pending:
		return
	}
	u.InFlight.Remove(&f.QueuePlace)
	c := f.Call
	c.pipeline.Admission.Watch.Forwarded(u.Config.Name, c.recorded, c.Method, time.Since(f.SentAt), r.Err)
	if f.answered != nil {
		f.answered(resultOf(r))
	}
	for _, q := range e.requests {
		q.Refuse(spec.CodeInternal, callOver)
	}
	abandoned := r.Err != nil && r.Err == e.reason
	if !c.plain {
		if abandoned && f.mayNeedResend() {
			c.dropMessage() // the message will not be sent again
		}
		f.taskFromReply(r)
	}
	if c.claims.Load() != 0 {
		c.release(slot | taskSlot)
	}
	switch to := e.receiver; {
	case to == nil:
		f.settleParked(r)
	case e.inline && abandoned: // the goroutine that waits for the call is busy with the request and cannot answer
		to.ownStream().close()
		f.finish(to, r, nil)
		to.detach()
	default:
		f.delaysExit.Store(c.pipeline.Life.Hold())
		if !to.sendToWaiter(completion{inflight: f, reply: r}) {
			f.finish(to, r, &u.Burst)
		}
	}
}

// finish handles the end of the request on the goroutine that reads the reply. It records the
// outcome and answers c. The gate learns the outcome before the client does. If the call continues
// as a task or with another round of input, its ticket stays open. Replies in the same burst are
// recorded together.
func (f *inflightCall) finish(c *Call, r upstream.Reply, together *burst.Burst) {
	p := c.pipeline
	open, later := false, false // if open is true, the ticket stays open; if later is true, the burst does the rest
	defer func() {
		if !later {
			f.close(open)
		}
	}()
	defer p.Life.Recovered(c.Method, c.ID, c.Stream)
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
	e.settling = p.Admission.StageEnd(context.Background(), f.ticket, p.endOf(f.ticket, outcome(r, facts), r.Result), "") // a background context, because the end must be recorded during shutdown, too
	if later = together.Add(e); !later {
		c.yield()
		e.answer()
	}
}

// facts returns the facts about the reply that determine how the call ended. If a net is waiting
// for the outcome, a successful result must be strict JSON throughout. In all other results, only
// the envelope is checked, and they are forwarded unchanged.
func (f *inflightCall) facts(r upstream.Reply) wire.Facts {
	facts := wire.ResultFacts(r.Result)
	if f.ticket.Awaited && facts.Success() && rawjson.Check(r.Result, rawjson.MaxDepth) != nil {
		facts.Broken = true
	}
	return facts
}

// outcome returns the outcome of a reply for the nets. Only a complete, strictly parsed result
// without an error is a success. A call without a reply is a failure only if it is certain that the
// server did not begin the call: a server that died in the middle of a call might have had an
// effect.
func outcome(r upstream.Reply, facts wire.Facts) gate.Outcome {
	switch {
	case r.Err == nil && r.Error == nil && facts.Success():
		return gate.Success
	case r.Err == nil && facts.Handle(): // the work continues as a task, which the proxy cannot follow
		return gate.Unknown
	case r.Err == nil, neverRan(r.Err):
		return gate.Failure
	default:
		return gate.Unknown
	}
}

// neverRan reports whether err proves that the server did not begin the call.
func neverRan(err error) bool {
	var status *upstream.StatusError
	return errors.Is(err, upstream.ErrNotSent) || errors.As(err, &status) && !status.Executed()
}

// endOf returns how a call has ended. If the call has succeeded, this includes the parts of the
// result that the policy reads.
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

// close closes the request after its outcome has been recorded. If the call is still not settled
// because of a panic, close settles it as unknown, unless the ticket must stay open. If a reply has
// arrived in the meantime, its outcome takes precedence.
func (f *inflightCall) close(open bool) {
	if !open {
		f.Call.pipeline.Admission.Abandon(context.Background(), f.ticket)
	}
	f.allowExit()
	if late := f.markSettled(); late != nil {
		f.settleLate(*late)
	}
}

// allowExit lets the proxy exit, because the outcome has been recorded or because the call
// continues.
func (f *inflightCall) allowExit() {
	if f.delaysExit.Swap(false) {
		f.Call.pipeline.Life.Release()
	}
}

// An ending is the end of a call that the gate already knows but that has not been recorded yet. It
// is a [burst.Step].
type ending struct {
	inflight *inflightCall
	call     *Call // call that receives the answer
	reply    upstream.Reply
	facts    wire.Facts
	settling *admission.Settling
}

// Continue answers the call after the end of the call has been recorded.
func (e *ending) Continue() {
	c := e.call
	defer e.inflight.close(false)
	defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
	e.answer()
}

func (e *ending) answer() {
	e.settling.Wait()
	e.inflight.allowExit()
	e.call.pipeline.Advertiser.Touch(e.inflight.Call.State)
	e.call.deliver(e.reply, e.facts)
}

// settleParked settles a call after its client did not return with the next round.
func (f *inflightCall) settleParked(r upstream.Reply) {
	p := f.Call.pipeline
	if f.handle != nil {
		return
	}
	defer f.close(false)
	p.settle(f.Call.State, f.ticket, p.endOf(f.ticket, outcome(r, f.facts(r)), r.Result), "")
}

// settleLate settles a call whose client was already told that the outcome is unknown.
func (f *inflightCall) settleLate(r upstream.Reply) {
	c := f.Call
	defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
	if f.taskFromReply(r); f.handle != nil { // the end of the task will settle the call
		return
	}
	if e := c.pipeline.endOf(f.ticket, outcome(r, f.facts(r)), r.Result); e.Outcome != gate.Unknown {
		c.pipeline.Life.Log.Info("late answer", "tool", c.Tool.Canonical, "call", f.ticket.Number, "outcome", e.Outcome.String())
		c.pipeline.settle(c.State, f.ticket, e, "late answer")
	}
}
