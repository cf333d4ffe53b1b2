package pipeline

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// An inflightCall is a request that was admitted and sent, until it is settled. It ends once: by
// the server's reply, by a timeout or by its client. After a timeout or a cancellation the outcome
// is unknown, and a late reply settles it.
type inflightCall struct {
	Call   *Call // the call that was admitted
	ticket *admission.Ticket
	rev    *rev.Rev // revision of the server

	token    int64             // progressToken sent to the server; 0: none
	asTask   bool              // the call asks for a task (params.task of 2025-11-25)
	taskable bool              // the server was told that the client accepts a task (2026-07-28)
	handle   *tasks.TaskHandle // task that the call became; nil: none

	answered   func(admission.Result) // tells observers that the reply has arrived
	delaysExit atomic.Bool            // the proxy does not exit before the outcome is on record

	pool.QueuePlace // position in the queue of calls in flight to the server
	inflightState
}

// InFlight returns the calls in flight to u.
func InFlight(u *pool.Server) (list []*inflightCall) {
	for _, one := range u.InFlight.All() {
		if f, ok := one.(*inflightCall); ok {
			list = append(list, f)
		}
	}
	return list
}

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

// GoOn answers the call once its end is on record.
func (e *ending) GoOn() {
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

// facts returns the parts of the reply that decide how the call ended. If a net waits for the
// outcome, a success must be strict JSON to the end. Of other results only the envelope is checked,
// and they are forwarded unchanged.
func (f *inflightCall) facts(r upstream.Reply) wire.Facts {
	facts := wire.ResultFacts(r.Result)
	if f.ticket.Awaited && facts.Success() && rawjson.Check(r.Result, rawjson.MaxDepth) != nil {
		facts.Broken = true
	}
	return facts
}

// onNotification forwards a notification of the server that belongs to the call to its client.
func (f *inflightCall) onNotification(method string, params []byte) {
	if f.Call.pipeline.Tasks.Notification(f.Call.Tool.Upstream, method, params) {
		return
	}
	if c := f.Receiver(); c != nil {
		if note := c.Client.Notification(c.Peer, c.Meta, method, params); note != nil {
			c.Tell(note)
		}
	}
}
