package pipeline

import (
	"time"

	"github.com/petrigate/petrigate/proxy/internal/events"
)

// Tell sends a notification to the client. It never blocks on a call with an outbox, since it runs
// on the goroutine that reads from a server.
func (c *Call) Tell(note []byte) {
	if c.outbox == nil {
		c.Stream.Send(note)
		return
	}
	c.outbox.Add(note)
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

// ownStream returns a stream to the client of the call for goroutines that read from a server,
// which must not wait for that client.
func (c *Call) ownStream() callStream { return callStream{c} }

// A callStream writes to the client of a call. Notifications go through the outbox of the goroutine
// that waits for the call, if the call has one.
type callStream struct{ call *Call }

func (s callStream) Send(parts ...[]byte) {
	if len(parts) == 1 {
		s.call.Tell(parts[0])
		return
	}
	s.call.Stream.Send(parts...)
}

func (s callStream) Reply(parts ...[]byte) { s.call.Stream.Reply(parts...) }

// notify sends a notification on the stream of the call, or on the stream of the session if that of
// the call has ended.
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

// close closes the client's connection after an answer that another goroutine writes while the
// handler is busy, so that no further request arrives on that connection.
func (s callStream) close() {
	if post, ok := s.call.Stream.(*events.Post); ok {
		post.ExpectLateAnswer()
	}
}

// onInterrupted handles the end of a response stream that the server allows the proxy to resume.
// The response to a client that can resume its own stream ends too.
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
