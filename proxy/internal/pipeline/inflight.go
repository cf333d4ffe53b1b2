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

// An inflightCall is a call that was admitted and sent, until it is settled. It ends once: by
// the server's reply, by a timeout, or by its client. After the last two its outcome is
// unknown, and a late reply settles it.
type inflightCall struct {
	Call   *Call // that was admitted
	ticket *admission.Ticket
	rev    *rev.Rev // of the server

	token    int64             // progressToken that the server has; 0: none
	asTask   bool              // the call asks for a task (params.task of 2025-11-25)
	taskable bool              // the server knows that the client takes a task (2026-07-28)
	handle   *tasks.TaskHandle // of the task that the call goes on as; nil: none

	answered func(admission.Result) // tells observers that the reply has come
	owed     atomic.Bool            // the end of the proxy waits for the outcome to be on record

	pool.QueuePlace // among the calls in flight to the server
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

// onReply takes the server's reply, whenever it comes.
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

// Abandon stops waiting for the reply, unless it has come, and cancels the request at the
// server. The first reason counts.
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

// end ends the call in flight by r, once, and completes the call that gets the answer.
func (f *inflightCall) end(r upstream.Reply) {
	first, inline, c := f.markOver(r)
	if !first {
		return
	}
	f.Call.Tool.Upstream.InFlight.Remove(f)
	f.ended(r)
	if f.mayRepeat() && f.isAbandoned(r) {
		f.Call.dropMessage() // it is not sent again
	}
	f.refuseRequests()
	f.taskFromReply(r)
	f.Call.release()
	switch {
	case c == nil:
		f.settleParked(r)
	case inline && f.isAbandoned(r): // the client's goroutine cannot answer now
		c.closeConnection()
		f.finish(c, r, nil)
		c.detach()
	default:
		f.owed.Store(c.pipeline.Life.Hold())
		c.complete(completion{inflight: f, reply: r})
	}
}

// release lets the proxy end: the outcome is on record, or the call goes on.
func (f *inflightCall) release() {
	if f.owed.Swap(false) {
		f.Call.pipeline.Life.Release()
	}
}

// ended tells observers and counts that the server has answered, or will not.
func (f *inflightCall) ended(r upstream.Reply) {
	c := f.Call
	c.pipeline.Admission.Watch().Forwarded(c.Tool.Upstream.Config.Name, c.recordedName(), c.Method, time.Since(f.SentAt), r.Err)
	if c.trace != nil {
		f.answered(resultOf(r))
	}
}

// finish handles the end of the call, where the reply is read: it records the outcome and
// answers c. The gate knows the outcome before the client does. Where the call goes on, as a
// task or with another round of input, its ticket stays open. Replies that come together
// wait for their records together.
func (f *inflightCall) finish(c *Call, r upstream.Reply, together *burst.Burst) {
	p := c.pipeline
	open, later := false, false // the ticket is; the rest is done
	defer func() {
		if !open && !later {
			p.abandon(f.ticket) // a panic settles as unknown
		}
		if !later {
			f.release()
			f.afterSettling()
		}
	}()
	defer p.Life.Recovered(c.Method, c.ID, c.Stream)
	if open = f.becomesTask(r); open {
		f.goOnAsTask(c)
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
	e.settling = p.Admission.StageEnd(context.Background(), f.ticket, p.ended(r, facts), "") // also while the proxy ends
	if later = together.Add(e); !later {
		c.yield()
		e.deliver()
	}
}

// An ending is the end of a call that the gate knows, and that is not on record yet.
type ending struct {
	inflight *inflightCall
	call     *Call // that is answered
	reply    upstream.Reply
	facts    wire.Facts
	settling *admission.Settling
}

// GoOn answers the call once its end is on record.
func (e *ending) GoOn() {
	p, c := e.call.pipeline, e.call
	defer e.inflight.afterSettling()
	defer e.inflight.release()
	defer p.abandon(e.inflight.ticket) // a panic settles as unknown
	defer p.Life.Recovered(c.Method, c.ID, c.Stream)
	e.deliver()
}

func (e *ending) deliver() {
	e.settling.Wait()
	e.inflight.release()
	e.call.pipeline.Advertiser.Touch(e.inflight.Call.State)
	e.call.deliver(e.reply, e.facts)
}

// facts returns what the reply says about the end of the call. Where a net waits for the
// outcome, a success has to be strict JSON to the end. Of other results only the envelope is
// checked, and they are passed on as they came.
func (f *inflightCall) facts(r upstream.Reply) wire.Facts {
	facts := wire.ResultFacts(r.Result)
	if f.ticket.Awaited && facts.Success() && rawjson.Check(r.Result, rawjson.MaxDepth) != nil {
		facts.Broken = true
	}
	return facts
}

// onNotification passes a notification of the server that belongs to the call to its client.
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
