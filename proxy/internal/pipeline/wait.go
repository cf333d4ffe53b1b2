package pipeline

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A completion is the end of one round of a call, for the goroutine of its client.
type completion struct {
	inflight *inflightCall
	reply    upstream.Reply
	settled  bool   // the gate knows the outcome
	round    []byte // an InputRequiredResult in place of the reply
}

// complete hands done to the goroutine of the client; where none waits, it handles done
// itself.
func (c *Call) complete(done completion) {
	if c.hand(done) {
		return
	}
	var together *burst.Burst
	if done.inflight != nil {
		together = &done.inflight.Call.Tool.Upstream.Burst
	}
	c.receive(done, together)
}

// receive answers the call with what completes its round, perhaps together with others.
func (c *Call) receive(done completion, together *burst.Burst) {
	switch {
	case done.round != nil:
		c.pass(wire.ResultHead(c.ID), done.round)
	case done.settled && done.inflight.handle != nil:
		done.inflight.answerTask(c)
	case done.settled:
		c.deliver(done.reply, wire.ResultFacts(done.reply.Result))
	default:
		done.inflight.finish(c, done.reply, together)
	}
}

// Begin serves a call on the goroutine of its client, which then has to call [Call.Wait].
// What may wait does so in ctx: whoever ends that has to cancel the call, too.
func (p *Pipeline) Begin(ctx context.Context, c *Call) {
	c.waitHere()
	if c.Tool == nil || c.Tool.Upstream.OneReader() {
		c.outbox = session.NewOutbox()
	}
	c.Spawn = func(f func()) { // nobody else waits for this goroutine
		c.Turn.Leave()
		c.Bind(ctx)
		c.rest = f
	}
	p.Serve(c)
	c.Turn.Leave()
}

// Wait goes on with a call that has begun, and returns when it is answered. The caller should
// have little on its stack: a call may wait for long.
func (c *Call) Wait() {
	for {
		f := c.rest
		switch c.rest = nil; {
		case f != nil:
			f()
		case !c.await() && c.rest == nil: // else the call is decided anew, and waits
			return
		}
	}
}

// await waits, on the client's goroutine, for the end of one round, and reports whether
// there is another. Meanwhile it writes the notifications of the server.
func (c *Call) await() bool {
	completed := c.completions()
	if completed == nil {
		return false
	}
	var wake <-chan struct{}
	if c.outbox != nil {
		wake = c.outbox.Wake
	}
	for {
		select {
		case <-wake:
			c.outbox.WriteTo(c.Stream)
		case done, open := <-completed:
			if c.outbox != nil {
				c.outbox.WriteTo(c.Stream) // what came before the reply
			}
			if !open {
				return false
			}
			c.receive(*done, nil)
			return c.goesOnAfter(*done)
		}
	}
}

// Tell passes a notification to the client. It never waits, since it runs on the goroutine
// that reads from a server.
func (c *Call) Tell(note []byte) {
	if c.outbox == nil {
		c.Stream.Send(note)
		return
	}
	c.outbox.Add(note)
}

// onInterrupted handles the end of the server's response stream, which the server allows to
// be resumed. The response to a client that can resume its own ends too.
func (f *inflightCall) onInterrupted(retry time.Duration) {
	c := f.Receiver()
	if c == nil {
		return
	}
	s, ok := c.Stream.(*events.Post)
	if !ok || !s.Interrupt(retry) {
		return
	}
	x := f.readElsewhere()
	c.detach()
	if x != nil {
		x.Leave()
	}
}

// closeConnection has the client's connection closed after an answer that is written while
// the client's goroutine is busy, so that no request follows on it.
func (c *Call) closeConnection() {
	if s, ok := c.Stream.(*events.Post); ok {
		s.Hasten()
	}
}
