package pipeline

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// onReply handles the server's reply, however late.
func (f *inflightCall) onReply(r upstream.Reply) {
	over, settled, counted := f.markReplied(r)
	if counted {
		f.Call.Tool.Upstream.Abandoned.Add(f.Call.Client.Session, -1)
	}
	switch {
	case !over:
		f.end(r)
	case settled:
		f.settleLate(r)
	}
}

// Abandon stops waiting for the reply and cancels the request at the server, unless the reply has
// come. The first reason counts.
func (f *inflightCall) Abandon(reason error) {
	x, first, reason := f.markAbandoned(reason)
	if x == nil {
		return
	}
	if first {
		f.Call.Tool.Upstream.Abandoned.Add(f.Call.Client.Session, 1)
		x.Cancel(reason.Error())
	}
	f.end(upstream.Reply{Err: reason})
}

// Cancel ends a call whose client sent notifications/cancelled or disconnected. A call that is not
// sent yet is never sent.
func (c *Call) Cancel(reason error) {
	stop, f := c.cancelled(reason)
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.Abandon(reason)
	}
}

// end ends the request in flight with the reply r, once, and completes the call that receives the
// answer.
func (f *inflightCall) end(r upstream.Reply) {
	first, inline, c := f.markOver(r)
	if !first {
		return
	}
	f.Call.Tool.Upstream.InFlight.Remove(f)
	f.observeReply(r)
	if f.mayNeedResend() && f.isAbandoned(r) {
		f.Call.dropMessage() // it will not be sent again
	}
	f.refuseRequests()
	f.taskFromReply(r)
	f.Call.release()
	switch {
	case c == nil:
		f.settleParked(r)
	case inline && f.isAbandoned(r): // the goroutine that waits for the call is busy with the request and cannot answer
		c.closeConnection()
		f.finish(c, r, nil)
		c.detach()
	default:
		f.delaysExit.Store(c.pipeline.Life.Hold())
		c.complete(completion{inflight: f, reply: r})
	}
}

// allowExit lets the proxy exit: the outcome is on record, or the call continues.
func (f *inflightCall) allowExit() {
	if f.delaysExit.Swap(false) {
		f.Call.pipeline.Life.Release()
	}
}

// observeReply tells observers and metrics that the server has replied or will not.
func (f *inflightCall) observeReply(r upstream.Reply) {
	c := f.Call
	c.pipeline.Admission.Watch().Forwarded(c.Tool.Upstream.Config.Name, c.recordedName(), c.Method, time.Since(f.SentAt), r.Err)
	if c.trace != nil {
		f.answered(resultOf(r))
	}
}

// complete sends done to the goroutine that waits for the call. If no goroutine waits, it handles
// done itself.
func (c *Call) complete(done completion) {
	if c.sendToWaiter(done) {
		return
	}
	var together *burst.Burst
	if done.inflight != nil {
		together = &done.inflight.Call.Tool.Upstream.Burst
	}
	c.receive(done, together)
}

// receive answers the call with the completion of its round, in the burst together if that is not
// nil.
func (c *Call) receive(done completion, together *burst.Burst) {
	switch {
	case done.round != nil:
		c.replyRaw(wire.ResultHead(c.ID), done.round)
	case done.settled && done.inflight.handle != nil:
		done.inflight.answerTask(c)
	case done.settled:
		c.deliver(done.reply, wire.ResultFacts(done.reply.Result))
	default:
		done.inflight.finish(c, done.reply, together)
	}
}

// finish handles the end of the request where its reply is read: it records the outcome and answers
// c. The gate learns the outcome before the client does. If the call continues as a task or with
// another round of input, its ticket stays open. Replies in the same burst wait for their records
// together.
func (f *inflightCall) finish(c *Call, r upstream.Reply, together *burst.Burst) {
	p := c.pipeline
	open, later := false, false // open: the ticket stays open; later: the burst does the rest
	defer func() {
		if !open && !later {
			p.abandon(f.ticket) // a panic settles as unknown
		}
		if !later {
			f.allowExit()
			f.afterSettling()
		}
	}()
	defer p.Life.Recovered(c.Method, c.ID, c.Stream)
	if open = f.becomesTask(r); open {
		f.continueAsTask(c)
		return
	}
	r.Err = f.cause(r.Err)
	facts := f.facts(r)
	if f.wantsInput(r, facts) {
		why := f.askForInput(c, r.Result)
		if open = why == ""; !open {
			p.settle(f.Call.State, f.ticket, gate.End{Outcome: gate.Failure}, "")
			c.answer(unanswered("unsupported", gate.Failure, why))
		}
		return
	}
	e := &ending{inflight: f, call: c, reply: r, facts: facts}
	e.settling = p.Admission.StageEnd(context.Background(), f.ticket, p.endOf(r, facts), "") // also during shutdown
	if later = together.Add(e); !later {
		c.yield()
		e.deliver()
	}
}

// An ending is the end of a call that the gate knows and that is not on record yet. It is a
// [burst.Step].
type ending struct {
	inflight *inflightCall
	call     *Call // call that gets the answer
	reply    upstream.Reply
	facts    wire.Facts
	settling *admission.Settling
}

// Continue answers the call once its end is on record.
func (e *ending) Continue() {
	p, c := e.call.pipeline, e.call
	defer e.inflight.afterSettling()
	defer e.inflight.allowExit()
	defer p.abandon(e.inflight.ticket) // a panic settles the call as unknown
	defer p.Life.Recovered(c.Method, c.ID, c.Stream)
	e.deliver()
}

func (e *ending) deliver() {
	e.settling.Wait()
	e.inflight.allowExit()
	e.call.pipeline.Advertiser.Touch(e.inflight.Call.State)
	e.call.deliver(e.reply, e.facts)
}

// continueAsTask tells the client about the task, or sends the call again as a task that the client
// does not see.
func (f *inflightCall) continueAsTask(c *Call) {
	if f.handle != nil {
		f.answerTask(c)
		return
	}
	c.emulatesTask = true
	c.spawnFromReply(func() { c.pipeline.forwardAgain(c, f.ticket) })
}

// answerTask sends the client the CreateTaskResult. If the task is over already, the gate learns it
// before the client does.
func (f *inflightCall) answerTask(c *Call) {
	h := f.handle
	if c.emulatesTask {
		c.spawnFromReply(func() { c.pipeline.emulateTask(c, h.Task) })
		return
	}
	give := func() { c.replyRaw(wire.ResultHead(c.ID), h.Result) }
	if !h.About.Status.Over() {
		give()
		return
	}
	c.spawnFromReply(func() {
		c.pipeline.Tasks.Reached(c.ctx, h.Task, h.About)
		give()
	})
}
