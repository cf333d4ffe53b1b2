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

// A completion ends one round of a call. It goes to the goroutine that waits for the call.
type completion struct {
	inflight *inflightCall
	reply    upstream.Reply
	settled  bool   // the gate knows the outcome
	round    []byte // InputRequiredResult instead of the reply
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

// Begin serves a call on the calling goroutine, which must call [Call.Wait] afterwards. Work that
// blocks does so in ctx; the caller must also cancel the call when it cancels ctx.
func (p *Pipeline) Begin(ctx context.Context, c *Call) {
	c.startWaiting()
	if c.Tool == nil || c.Tool.Upstream.OneReader() {
		c.outbox = session.NewOutbox()
	}
	c.Spawn = func(f func()) { // only this call waits for this goroutine
		c.Turn.Leave()
		c.Bind(ctx)
		c.spawned = f
	}
	p.Serve(c)
	c.Turn.Leave()
}

// Wait continues a call that Begin has served, and returns when it is answered. The caller should
// have little on its stack: a call can wait for a long time.
func (c *Call) Wait() {
	for {
		f := c.spawned
		switch c.spawned = nil; {
		case f != nil:
			f()
		case !c.await() && c.spawned == nil: // otherwise the call is decided anew and waits
			return
		}
	}
}

// await waits for the end of one round and meanwhile writes the server's notifications. It reports
// whether the call has another round.
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
				c.outbox.WriteTo(c.Stream) // notifications from before the reply
			}
			if !open {
				return false
			}
			c.receive(*done, nil)
			return c.hasRoundAfter(*done)
		}
	}
}

// Tell sends a notification to the client. It never blocks on a call with an outbox, since it runs
// on the goroutine that reads from a server.
func (c *Call) Tell(note []byte) {
	if c.outbox == nil {
		c.Stream.Send(note)
		return
	}
	c.outbox.Add(note)
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
		x.Leave()
	}
}

// closeConnection closes the client's connection after an answer that another goroutine writes
// while the handler is busy, so that no further request arrives on that connection.
func (c *Call) closeConnection() {
	if s, ok := c.Stream.(*events.Post); ok {
		s.Hasten()
	}
}
