package pipeline

import (
	"errors"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Tell sends a notification to the client. If the call has an outbox, Tell only adds the
// notification to it, and the goroutine that waits for the response sends it. Tell then never
// blocks, so that a goroutine that reads from a server can call it.
func (c *Call) Tell(note []byte) {
	if c.outbox == nil {
		c.Stream.Send(note)
		return
	}
	c.outbox.Add(note)
}

// onNotification forwards a server's notification about the call to the client.
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

// ownStream returns the stream to the call's client, for use by goroutines that read from a server.
// If the call has an outbox, notifications are queued there, so that these goroutines do not wait
// for the client.
func (c *Call) ownStream() callStream { return callStream{c} }

// A callStream writes to the client of a call. If the call has an outbox, Send queues a message
// there if the message has only one part. It writes any other message directly.
type callStream struct{ call *Call }

func (s callStream) Send(parts ...[]byte) {
	if len(parts) == 1 {
		s.call.Tell(parts[0])
		return
	}
	s.call.Stream.Send(parts...)
}

func (s callStream) Reply(parts ...[]byte) { s.call.Stream.Reply(parts...) }

// notify sends a notification on the stream of the call or, if that stream has ended, on the
// session's stream.
func (s callStream) notify(note []byte) {
	c := s.call
	post, ok := c.Stream.(*events.Post)
	switch {
	case !ok:
		c.Stream.Send(note)
	case !post.Try(note):
		c.Client.Out.Send(note)
	}
}

// close makes the HTTP server close the client's connection after the response. It is called if
// another goroutine writes the response while the handler is still busy. Otherwise, the client's
// next request on this connection would have to wait for the handler.
func (s callStream) close() {
	if post, ok := s.call.Stream.(*events.Post); ok {
		post.ExpectLateAnswer()
	}
}

// onInterrupted is called when the server has ended a response stream that the proxy can resume. It
// also ends the stream to the client, if the client can resume it.
func (f *inflightCall) onInterrupted(retry time.Duration) {
	c := f.Receiver()
	if c == nil {
		return
	}
	s, ok := c.Stream.(*events.Post)
	if !ok || !s.Interrupt(retry) {
		return
	}
	x := f.stopInline()
	c.detach()
	if x != nil {
		x.StopInline()
	}
}

// A server that uses revision 2025-11-25 can make requests (elicitation/create,
// sampling/createMessage, roots/list) while it runs a call. A client that has sent initialize
// receives them as separate requests. A client that uses revision 2026-07-28 receives them in an
// InputRequiredResult, the response to its call. The request to the server is then parked until the
// client sends the call again with the responses: it stays in flight, but no call waits for its
// reply.

var errNoInput = errors.New("the client did not provide the requested input")

// onOwnRequest handles a server's request that arrived on the response stream of the call. It runs
// on the goroutine that reads the stream.
func (f *inflightCall) onOwnRequest(q *upstream.ServerRequest) { f.OnRequest(q, true) }

// OnRequest handles a server's request that belongs to the call. onStream is true if the request
// arrived on the response stream of the call.
func (f *inflightCall) OnRequest(q *upstream.ServerRequest, onStream bool) {
	if f.Call.pipeline.Tasks.ServerRequest(f.Call.Tool.Upstream, q) {
		return
	}
	if !session.CheckCapability(f.askedPeer(), q) {
		return
	}
	c, reason := f.addRequest(q)
	switch {
	case reason != "":
		q.Refuse(wire.CodeInternal, reason)
	case c == nil: // the client receives the request when it sends the call again
	case !c.Peer.Rev.InputRequired:
		c.pipeline.Reverse.PassOn(c.Client, c.ownStream(), c.Tool.Upstream, q)
	default:
		f.park(c, onStream)
	}
}

// askedPeer returns the peer that must respond to the server's requests. This is the peer of the
// call that is waiting for the server's reply or, if no call is waiting, the peer that first sent
// the call.
func (f *inflightCall) askedPeer() session.Peer {
	if c := f.Receiver(); c != nil {
		return c.Peer
	}
	return f.Call.Peer
}

// refuseRequests refuses the server's unanswered requests, because the call is over.
func (f *inflightCall) refuseRequests() {
	for _, q := range f.takeRequests() {
		q.Refuse(wire.CodeInternal, callOver)
	}
}

// park responds to the call c with the server's requests for input. The request to the server stays
// in flight until the client sends the call again with the responses. If too many calls are
// suspended, park refuses the server's requests instead. onStream is true if the caller is the
// goroutine that reads the response stream of the call.
func (f *inflightCall) park(c *Call, onStream bool) {
	p := c.pipeline
	x := &suspendedCall{id: lifetime.RandomID(""), ticket: f.ticket, call: f.Call, approved: f.Call.approved, inflight: f, asked: map[string]*upstream.ServerRequest{}}
	var inputs rawjson.Object
	full := false
	exchange, inline, parked := f.parkFor(c, func(requests []*upstream.ServerRequest) bool {
		for i, q := range requests {
			key := "request-" + strconv.Itoa(i+1)
			x.asked[key] = q
			inputs = inputs.Raw(key, spec.Input(q.Method, c.Tool.Upstream.WithServerName(q.Params)))
		}
		full = !p.suspended.add(x, p.Sessions.SeveralPrincipals.Load(), p.Approval.Expire, p.abandonExpired)
		return !full
	})
	if full {
		f.refuseRequests()
	}
	if !parked {
		return
	}
	expires := p.Life.Now().Add(p.Approval.Expire)
	state := p.Sealer.Seal(seal.Round{Number: c.input.round + 1, Pause: x.id, Expires: expires}, c.subject())
	result := rawjson.Object{}.String("resultType", "input_required").Raw("inputRequests", inputs.Bytes()).String("requestState", state).Bytes()
	_ = c.replaceInflight(nil) // the client gets this response even if it has canceled the call
	if exchange != nil {
		exchange.StopInline()
	}
	if inline && !onStream { // the goroutine that waits for the call is reading the server's reply and cannot respond
		c.ownStream().close()
		completion{round: result}.answer(c)
		return
	}
	c.complete(completion{round: result})
}

// attach continues the in-flight request for c, the call that the client has sent again with its
// responses. It immediately sends the client any further requests made by the server.
func (f *inflightCall) attach(c *Call, x *suspendedCall) {
	for key, q := range x.asked {
		if response, ok := rawjson.Member(c.input.responses, key); ok {
			q.Result(response)
		}
	}
	c.dropMessage()
	held, more := f.attachTo(c)
	stopped := c.replaceInflight(f)
	switch {
	case held != nil:
		c.complete(completion{inflight: f, reply: *held, settled: true})
	case stopped != nil:
		f.Abandon(stopped)
	case more && c.input.round >= maxInputRounds:
		f.refuseRequests()
	case more:
		f.park(c, false)
	}
}

// abandonExpired abandons an in-flight request whose client did not return with the responses.
func (p *Pipeline) abandonExpired(x *suspendedCall) {
	p.Life.Log.Info("the client did not provide the requested input", "tool", x.call.Tool.Canonical, "call", x.ticket.Number)
	x.inflight.Abandon(errNoInput)
	x.inflight.refuseRequests()
}
