package pipeline

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// An inflightCall is a call that was let through and sent, until it is settled. It
// ends once: by the upstream's reply, by a timeout, or by its client. After
// the last two the outcome is unknown, and a reply that still comes settles it.
type inflightCall struct {
	Call   *Call // that was let through
	ticket *admission.Ticket
	rev    *rev.Rev // of the upstream

	token    int64             // of the progress that the upstream tells; 0: none
	asTask   bool              // it was asked to make a task, as it is done in 2025-11-25
	taskable bool              // it was told that the client takes a task, as it is done since 2026-07-28
	handle   *tasks.TaskHandle // of the task that it goes on as; nil: it does not

	answered func(admission.Result) // for who observes that it is forwarded

	pool.QueuePlace // among the calls in flight to its upstream

	mu        sync.Mutex
	over      bool
	here      bool                      // the client's goroutine makes the request itself
	to        *Call                     // that gets the answer; nil: it is parked
	held      *upstream.Reply           // that came while it was parked
	inquiries []*upstream.ServerRequest // of the upstream, that wait for the client
	exchange  *upstream.Exchange        // nil until it is sent
	early     error                     // why it was abandoned before it was sent off whole
	came      bool                      // the upstream has replied
	settled   bool                      // its end is on record, and the nets know
	late      *upstream.Reply           // that came after its end, and before that was settled
	strayed   bool                      // its client waits no longer, and the upstream may be busy with it
}

// launch sends the call. Its end is handled where the reply arrives, or by
// the goroutine of the client that waits for it.
func (p *Pipeline) launch(t *Call, ticket *admission.Ticket) {
	u := t.Tool.Upstream
	f := &inflightCall{Call: t, to: t, ticket: ticket, rev: u.Rev()}
	if stopped := t.setInflight(f, !u.OneReader()); stopped != nil { // it is never sent
		t.release()
		p.settle(t.Client.Session, ticket, gate.Failure, "")
		t.conclude(func() {})
		return
	}
	if f.here && t.notes != nil { // its tool was not known before
		t.notes = nil // what is told of it is read here: nobody else is kept waiting
	}
	request := f.request()
	if !f.repeats() {
		t.sent()
	}
	_, f.answered = p.Admission.Forwarding(p.Life.Ctx, ticket)
	f.SentAt = time.Now()
	u.InFlight.Push(f)
	if f.here {
		request.Here, request.Begin = true, f.begins
		u.Send(request)
		return
	}
	f.sent(u.Send(request))
}

// repeats reports whether the call may have to be sent again, with what its client
// is asked for meanwhile.
func (f *inflightCall) repeats() bool { return f.rev.InputRequired && !f.Call.Agent.Rev.InputRequired }

// repeats is that of a call which is not sent yet.
func (t *Call) repeats() bool {
	return !t.Agent.Rev.InputRequired && t.Tool.Upstream.Rev().InputRequired
}

// request is the call as the upstream gets it.
func (f *inflightCall) request() upstream.Request {
	t := f.Call
	u := t.Tool.Upstream
	r := upstream.Request{Method: t.Method, Name: t.Tool.Name, Notify: f.relay, Deliver: f.arrived}
	hop := wire.Hop{Name: t.params.Name}
	if t.Method != spec.ReadResource {
		hop.Name = t.Tool.Name
	}
	if f.rev.PerRequest {
		hop.Modern, hop.Meta = true, t.Client.WithLogLevel(t.Agent, t.Meta, u.RequestMeta(f.declared()))
		hop.InputResponses, hop.RequestState, hop.HasState = t.input.responses, t.input.state, t.input.hasState
	} else {
		r.Ask, r.Interrupted = f.asked, f.interrupted
		hop.Task = t.taskParams()
		f.asTask = hop.Task != nil
	}
	if t.Meta.ProgressToken != nil {
		r.Token = u.NewToken()
		f.token = r.Token
		hop.ProgressToken = strconv.AppendInt(nil, r.Token, 10)
	}
	r.Params = t.params.AppendForward(nil, hop)
	return r
}

// relay passes a notification that belongs to the call to its client.
func (f *inflightCall) relay(method string, params []byte) {
	if f.Call.proxy.Tasks.Notification(f.Call.Tool.Upstream, method, params) {
		return
	}
	if t := f.Receiver(); t != nil {
		if note := t.Client.Notification(t.Agent, t.Meta, method, params); note != nil {
			t.Tell(note)
		}
	}
}

// begins takes what the call can be cancelled by, unless it is cancelled
// already: then it is not sent.
func (f *inflightCall) begins(x *upstream.Exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.early == nil {
		f.exchange = x
	}
	return f.early == nil
}

// sent is begins for a call that is on its way.
func (f *inflightCall) sent(x *upstream.Exchange) {
	f.mu.Lock()
	f.exchange = x
	early := f.early
	f.mu.Unlock()
	if early != nil {
		f.Abandon(early)
	}
}

// arrived takes the upstream's reply, whenever it comes.
func (f *inflightCall) arrived(r upstream.Reply) {
	f.mu.Lock()
	over, settled, strayed := f.over, f.settled, f.strayed
	f.came = true
	if over && !settled {
		late := r
		f.late = &late
	}
	f.mu.Unlock()
	if strayed {
		f.Call.Tool.Upstream.Abandoned.Add(f.Call.Client.Session, -1)
	}
	switch {
	case !over:
		f.finished(r)
	case settled:
		f.settleLate(r)
	}
}

// settles notes that the end is settled: what came later is the last word.
func (f *inflightCall) settles() {
	f.mu.Lock()
	f.settled = true
	late := f.late
	f.late = nil
	f.mu.Unlock()
	if late != nil {
		f.settleLate(*late)
	}
}

// finished ends the call in flight by r, and hands r to whoever waits for it.
func (f *inflightCall) finished(r upstream.Reply) {
	f.mu.Lock()
	first, to, here := !f.over, f.to, f.here
	f.over = true
	if to == nil && first {
		f.held = &r
	}
	f.mu.Unlock()
	if !first {
		return
	}
	f.Call.Tool.Upstream.InFlight.Remove(f)
	f.answered(admission.Result{Err: r.Err})
	if f.repeats() && f.abandoned(r) {
		f.Call.sent() // it is not sent again
	}
	f.withdraw()
	f.taskFromReply(r)
	f.Call.release()
	switch {
	case to == nil:
		f.settleParked(r)
	case here && f.abandoned(r): // the client's goroutine cannot answer now
		to.hasten()
		f.finish(to, r)
		to.detach()
	default:
		to.complete(completion{inflight: f, reply: r})
	}
}

// abandoned reports whether it is we who ended the call in flight.
func (f *inflightCall) abandoned(r upstream.Reply) bool { return r.Err != nil && r.Err == f.early }

// Abandon stops waiting for the reply and tells the upstream, unless the reply
// has come. The first reason is the one that counts.
func (f *inflightCall) Abandon(reason error) {
	f.mu.Lock()
	done, x := f.over || f.came, f.exchange
	if f.early == nil && !done {
		f.early = reason
	}
	reason = f.early
	strays := !done && x != nil && !f.strayed
	f.strayed = f.strayed || strays
	f.mu.Unlock()
	if done || x == nil {
		return
	}
	if strays {
		f.Call.Tool.Upstream.Abandoned.Add(f.Call.Client.Session, 1)
		x.Cancel(reason.Error())
	}
	f.finished(upstream.Reply{Err: reason})
}

// finish records the outcome, moves the nets, and answers. Where the upstream
// asks for input the call is not over: its ticket stays open.
func (f *inflightCall) finish(t *Call, r upstream.Reply) {
	p := t.proxy
	open := false
	defer f.settles()
	defer func() {
		if !open {
			p.abandon(f.ticket) // a panic settles as unknown
		}
	}()
	defer p.Life.Recovered(t.Method, t.ID, t.Stream)
	if open = f.handle != nil; open {
		f.answerTask(t)
		return
	}
	if open = f.needsTask(r); open {
		t.emulatesTask = true
		t.besideReader(func() { p.launch(t, f.ticket) })
		return
	}
	r.Err = f.cause(r.Err)
	facts := f.facts(r)
	if f.rev.InputRequired && r.Result != nil && facts.Type == wire.TypeInputRequired && !facts.Broken {
		why := f.wantsInput(t, r.Result)
		if open = why == ""; open {
			return
		}
		p.settle(f.Call.Client.Session, f.ticket, gate.Failure, "")
		t.answer(unanswered("unsupported", gate.Failure, why))
		return
	}
	p.settle(f.Call.Client.Session, f.ticket, outcome(r, facts), "")
	t.deliver(r, facts)
}

// cause is why no reply came, which err says. That the upstream let go of a
// request that we had called back is not why.
func (f *inflightCall) cause(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lost *upstream.Lost
	if f.early != nil && errors.As(err, &lost) && lost.Sent && !lost.Dead {
		return f.early
	}
	return err
}

// settleParked is finish for a call whose client has not come back yet.
func (f *inflightCall) settleParked(r upstream.Reply) {
	p := f.Call.proxy
	if f.handle != nil {
		return
	}
	defer f.settles()
	defer p.abandon(f.ticket)
	p.settle(f.Call.Client.Session, f.ticket, outcome(r, f.facts(r)), "")
}

// facts is what the reply says about the end of the call. Where a net moves by
// it, a success has to be strict JSON to the end: of others only the envelope
// is known to be sound, and they are passed on as they came.
func (f *inflightCall) facts(r upstream.Reply) wire.Facts {
	facts := wire.ResultFacts(r.Result)
	if f.ticket.Awaited && facts.Success() && rawjson.Check(r.Result, rawjson.MaxDepth) != nil {
		facts.Broken = true
	}
	return facts
}

// settleLate settles a call whose client was told that the outcome is unknown.
func (f *inflightCall) settleLate(r upstream.Reply) {
	t := f.Call
	defer t.proxy.Life.Recovered(t.Method, t.ID, t.Stream)
	if f.taskFromReply(r); f.handle != nil { // its end settles the call
		return
	}
	if o := outcome(r, f.facts(r)); o != gate.Unknown {
		t.proxy.Life.Log.Info("late answer", "tool", t.Tool.Canonical, "call", f.ticket.Number, "outcome", audit.OutcomeName(o))
		t.proxy.settle(t.Client.Session, f.ticket, o, "late answer")
	}
}
