package proxy

import (
	"strconv"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A flight is a call that was let through and sent, until it is settled. It
// ends once: by the upstream's reply, by a timeout, or by its client. After
// the last two the outcome is unknown, and a reply that still comes settles it.
type flight struct {
	call   *toolCall
	ticket *gate.Ticket

	here bool // the client's goroutine makes the request itself

	sentAt     time.Time
	prev, next *flight // in the queue of its upstream, which guards them
	queued     bool

	mu       sync.Mutex
	over     bool
	exchange *upstream.Exchange // nil until it is sent
	early    error              // why it was abandoned before it was sent off whole
}

// launch sends the call. Its end is handled where the reply arrives, or by
// the goroutine of the client that waits for it.
func (p *Proxy) launch(t *toolCall, ticket *gate.Ticket) {
	f := &flight{call: t, ticket: ticket, here: t.landed != nil && t.tool.upstream.config.URL != ""}
	t.mu.Lock()
	stopped := t.stopped
	if stopped == nil {
		t.flight = f
	}
	t.mu.Unlock()
	if stopped != nil { // it is never sent
		p.settle(t, ticket, gate.Failure, "")
		t.conclude(func() {})
		return
	}
	f.sentAt = time.Now()
	t.tool.upstream.flights.push(f)
	request := f.request()
	if f.here {
		request.Here, request.Begin = true, f.begins
		t.tool.upstream.Send(request)
		return
	}
	f.sent(t.tool.upstream.Send(request))
}

// request is the call as the upstream gets it.
func (f *flight) request() upstream.Request {
	t := f.call
	u := t.tool.upstream
	r := upstream.Request{Method: "tools/call", Name: t.tool.name, Notify: t.relay, Deliver: f.arrived}
	hop := wire.Hop{Name: t.tool.name}
	if u.State().Era == upstream.Modern {
		hop.Modern, hop.Meta = true, t.withLogLevel(u.RequestMeta(nil))
	}
	if t.meta.ProgressToken != nil {
		r.Token = u.NewToken()
		hop.ProgressToken = strconv.AppendInt(nil, r.Token, 10)
	}
	r.Params = t.params.AppendForward(nil, hop)
	return r
}

// withLogLevel adds to the _meta for a modern upstream the level of the log
// messages that the client wants: without it there are none.
func (t *toolCall) withLogLevel(meta []byte) []byte {
	level := t.meta.LogLevel
	if !t.agent.modern {
		t.client.mu.Lock()
		level = t.client.logLevel
		t.client.mu.Unlock()
	}
	if _, known := logLevels[level]; !known || meta == nil {
		return meta
	}
	return append(meta[:len(meta):len(meta)], `,"io.modelcontextprotocol/logLevel":"`+level+`"`...)
}

// begins takes what the call can be cancelled by, unless it is cancelled
// already: then it is not sent.
func (f *flight) begins(x *upstream.Exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.early == nil {
		f.exchange = x
	}
	return f.early == nil
}

// sent is begins for a call that is on its way.
func (f *flight) sent(x *upstream.Exchange) {
	f.mu.Lock()
	f.exchange = x
	early := f.early
	f.mu.Unlock()
	if early != nil {
		f.abandon(early)
	}
}

// arrived takes the upstream's reply, whenever it comes.
func (f *flight) arrived(r upstream.Reply) {
	f.mu.Lock()
	late := f.over
	f.over = true
	f.mu.Unlock()
	if late {
		f.settleLate(r)
		return
	}
	f.call.tool.upstream.flights.remove(f)
	f.end(r)
}

// abandon stops waiting for the reply and tells the upstream.
func (f *flight) abandon(reason error) {
	f.mu.Lock()
	if f.over || f.exchange == nil {
		f.early = reason
		f.mu.Unlock()
		return
	}
	f.over = true
	f.mu.Unlock()
	f.call.tool.upstream.flights.remove(f)
	f.exchange.Cancel(reason.Error())
	if f.here { // the client's goroutine cannot answer now
		if s, ok := f.call.stream.(*postStream); ok {
			s.hasten()
		}
		f.finish(upstream.Reply{Err: reason})
		close(f.call.landed)
		return
	}
	f.end(upstream.Reply{Err: reason})
}

// end hands the reply to the client's goroutine, if one waits.
func (f *flight) end(r upstream.Reply) {
	if f.call.landed != nil {
		f.call.landed <- r // has room for the one that there is
		return
	}
	f.finish(r)
}

// await is for the client's goroutine: it takes the end of the flight, or
// learns that it is finished. Until then it writes what is to be told.
func (f *flight) await() {
	for {
		select {
		case note := <-f.call.notes:
			f.call.stream.send(note)
		case r, open := <-f.call.landed:
			f.tellRest()
			if open {
				f.finish(r)
			}
			return
		}
	}
}

// tellRest writes what came before the reply.
func (f *flight) tellRest() {
	for {
		select {
		case note := <-f.call.notes:
			f.call.stream.send(note)
		default:
			return
		}
	}
}

// finish records the outcome, moves the nets, and answers.
func (f *flight) finish(r upstream.Reply) {
	t := f.call
	defer f.ticket.Close() // a panic settles as unknown
	defer t.proxy.recovered("tools/call", t.id, t.stream)
	facts := f.facts(r)
	t.proxy.settle(t, f.ticket, outcome(r, facts), "")
	t.deliver(r, facts)
}

// facts is what the reply says about the end of the call. Where a net moves by
// it, a success has to be strict JSON to the end: of others only the envelope
// is known to be sound, and they are passed on as they came.
func (f *flight) facts(r upstream.Reply) wire.Facts {
	facts := wire.ResultFacts(r.Result)
	if f.ticket.Awaited && facts.Success() && rawjson.Check(r.Result, rawjson.MaxDepth) != nil {
		facts.Broken = true
	}
	return facts
}

// settleLate settles a call whose client was told that the outcome is unknown.
func (f *flight) settleLate(r upstream.Reply) {
	t := f.call
	defer t.proxy.recovered("tools/call", t.id, t.stream)
	if o := outcome(r, f.facts(r)); o != gate.Unknown {
		t.proxy.log.Info("late answer", "tool", t.tool.canonical, "call", f.ticket.Number, "outcome", outcomeName(o))
		t.proxy.settle(t, f.ticket, o, "late answer")
	}
}
