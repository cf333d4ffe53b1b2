package pipeline

import (
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// What an upstream of 2025-11-25 asks of the client of a call: a client
// with a handshake is asked by a request; for one of revision 2026-07-28 the
// call is parked, and the client gets the question as the result of this round.

// asked takes a request of the upstream that came on the call's own stream,
// on the goroutine that reads it.
func (f *inflightCall) asked(q *upstream.ServerRequest) { f.Inquired(q, true) }

// Inquired takes a request of the upstream that belongs to the call in flight.
func (f *inflightCall) Inquired(q *upstream.ServerRequest, own bool) {
	if f.Call.proxy.Tasks.ServerRequest(f.Call.Tool.Upstream, q) {
		return
	}
	if !session.MayAsk(f.asker(), q) {
		return
	}
	f.mu.Lock()
	t := f.to
	switch {
	case f.over || f.early != nil: // or is about to be, which the server knows already
		f.mu.Unlock()
		q.Refuse(spec.CodeInternal, "the call is over")
	case len(f.inquiries) >= spec.MaxInputs:
		f.mu.Unlock()
		q.Refuse(spec.CodeInternal, "too many requests wait for the client")
	case t == nil: // parked; it is asked in the next round
		f.inquiries = append(f.inquiries, q)
		f.mu.Unlock()
	case !t.Agent.Rev.InputRequired:
		f.inquiries = append(f.inquiries, q)
		f.mu.Unlock()
		t.proxy.Reverse.PassOn(t.Client, t.ownStream(), t.Tool.Upstream, q)
	default:
		f.inquiries = append(f.inquiries, q)
		f.mu.Unlock()
		f.park(t, own)
	}
}

// asker is the agent that is asked; of a call that is parked, who made it.
func (f *inflightCall) asker() session.Peer {
	if t := f.Receiver(); t != nil {
		return t.Agent
	}
	return f.Call.Agent
}

// withdraw ends what the upstream still asks: the call is over.
func (f *inflightCall) withdraw() {
	f.mu.Lock()
	open := f.inquiries
	f.inquiries = nil
	f.mu.Unlock()
	for _, q := range open {
		q.Refuse(spec.CodeInternal, "the call is over")
	}
}

// Holding reports whether the call waits for its client, so that the time
// of its upstream does not run.
func (f *inflightCall) Holding() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inquiries = pool.Unanswered(f.inquiries)
	return !f.over && (f.to == nil || len(f.inquiries) > 0)
}

// park answers the client's call with what the upstream asks, and keeps the
// call in flight for the one that brings the answers. own says that this is where the
// flight's own stream is read.
func (f *inflightCall) park(t *Call, own bool) {
	p := t.proxy
	x := &suspendedCall{id: lifetime.RandomID(""), ticket: f.ticket, call: f.Call, inflight: f, asked: map[string]*upstream.ServerRequest{}}
	f.mu.Lock()
	if f.over || f.to != t { // it has its answer, or is parked already
		f.mu.Unlock()
		return
	}
	result := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, q := range pool.Unanswered(f.inquiries) {
		key := "request-" + strconv.Itoa(i+1)
		x.asked[key] = q
		if i > 0 {
			result = append(result, ',')
		}
		result = spec.AppendInput(result, key, q.Method, t.Tool.Upstream.WithServerName(q.Params))
	}
	if !p.suspended.add(x, p.Sessions.SeveralPrincipals.Load(), p.waitingFor(), p.inputExpired) {
		f.mu.Unlock()
		f.withdraw()
		return
	}
	busy := f.here && !own // the client's goroutine reads and cannot answer now
	f.to, f.here = nil, false
	exchange := f.exchange
	f.mu.Unlock()
	expires := p.Life.Now().Add(p.waitingFor())
	state := p.Sealer.Seal(seal.Round{Number: t.input.round + 1, Pause: x.id, Expires: expires}, t.subject())
	result = append(append(append(result, `},`...), stateMember(state)...), '}')
	t.clearInflight()
	if exchange != nil {
		exchange.Leave()
	}
	if busy {
		t.hasten()
		t.receive(completion{round: result})
		return
	}
	t.complete(completion{round: result})
}

// hasten is for an answer that is written while the client's goroutine is busy.
func (t *Call) hasten() {
	if s, ok := t.Stream.(*events.Post); ok {
		s.Hasten()
	}
}

// attach gives the call in flight to the call that brings the answers. What is still
// to be asked is asked at once.
func (f *inflightCall) attach(t *Call, x *suspendedCall) {
	for key, q := range x.asked {
		if response, ok := rawjson.Member(t.input.responses, key); ok {
			q.Result(response)
		}
	}
	t.sent()
	f.mu.Lock()
	f.inquiries = pool.Unanswered(f.inquiries)
	more := len(f.inquiries) > 0 && f.held == nil
	f.to = t
	held := f.held
	f.mu.Unlock()
	stopped := t.replaceInflight(f)
	switch {
	case held != nil:
		t.complete(completion{inflight: f, reply: *held, settled: true})
	case stopped != nil:
		f.Abandon(stopped)
	case more && t.input.round >= maxInputRounds:
		f.withdraw()
	case more:
		f.park(t, false)
	}
}

// inputExpired ends a call in flight whose client did not come back.
func (p *Pipeline) inputExpired(x *suspendedCall) {
	p.Life.Log.Info("the client did not come back with what it was asked for", "tool", x.call.Tool.Canonical, "call", x.ticket.Number)
	x.inflight.Abandon(errNoInput)
	x.inflight.withdraw()
}

// Receiver is the call that gets the answer; nil: it is parked.
func (f *inflightCall) Receiver() *Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.to
}

// FlightsTo is the calls in flight to u.
func FlightsTo(u *pool.Server) (list []*inflightCall) {
	for _, one := range u.InFlight.All() {
		if f, ok := one.(*inflightCall); ok {
			list = append(list, f)
		}
	}
	return list
}

// ownStream is a stream on which the call's own client can be asked, from the
// reader of an upstream that others share.
func (t *Call) ownStream() spec.Stream { return callStream{t} }

// callStream writes to the client of a call by way of the goroutine that
// waits for it, where there is one.
type callStream struct{ call *Call }

func (s callStream) Send(parts ...[]byte) {
	if len(parts) == 1 {
		s.call.Tell(parts[0])
		return
	}
	s.call.Stream.Send(parts...)
}

func (s callStream) Reply(parts ...[]byte) { s.call.Stream.Reply(parts...) }
