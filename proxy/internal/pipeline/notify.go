package pipeline

import (
	"time"

	"github.com/petrigate/petrigate/proxy/internal/events"
)

// Tell sends a notification to the client. It may run on the goroutine that reads from a server, so
// it never blocks if the call has an outbox.
func (c *Call) Tell(note []byte) {
	if c.outbox == nil {
		c.Stream.Send(note)
		return
	}
	c.outbox.Add(note)
}

// onNotification forwards a server's notification about the call to its client.
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

// ownStream returns a stream to the call's client. Goroutines that read from a server use it,
// because they must not wait for the client.
func (c *Call) ownStream() callStream { return callStream{c} }

// A callStream writes to the client of a call. If the goroutine that waits for the call has an
// outbox, notifications go through the outbox.
type callStream struct{ call *Call }

func (s callStream) Send(parts ...[]byte) {
	if len(parts) == 1 {
		s.call.Tell(parts[0])
		return
	}
	s.call.Stream.Send(parts...)
}

func (s callStream) Reply(parts ...[]byte) { s.call.Stream.Reply(parts...) }

// notify sends a notification on the stream of the call or, if that stream has ended, on the stream
// of the session.
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

// close closes the client's connection after another goroutine has written an answer while the
// handler is still busy. As a result, no further request can arrive on the connection.
func (s callStream) close() {
	if post, ok := s.call.Stream.(*events.Post); ok {
		post.ExpectLateAnswer()
	}
}

// onInterrupted handles the end of a response stream that the proxy can resume. If the client can
// also resume its stream, the response to the client ends as well.
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
