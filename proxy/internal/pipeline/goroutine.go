package pipeline

import (
	"context"

	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A reader identifies a goroutine that reads the messages of many calls and therefore must not
// block.
type reader int

const (
	clientReader reader = iota // the goroutine that reads the client's messages
	serverReader               // the goroutine that reads the server's replies
)

// continueOff runs f on a goroutine other than the given reader. f is the rest of the call and may
// block. If the reader reads from the client, continueOff passes f to [Call.Spawn], or refuses the
// call if the waiting calls already use too much memory. If the reader reads from the server, f
// runs on the goroutine that waits for the call or, if no goroutine waits, on a new one.
func (c *Call) continueOff(r reader, f func()) {
	if r == clientReader {
		if c.occupyBacklog() {
			c.Spawn(f)
		} else {
			c.refuseWaiting()
		}
		return
	}
	c.Bind(c.pipeline.Life.Ctx)
	if c.hasWaiter() {
		f()
		return
	}
	c.pipeline.Life.Background(func() {
		defer c.pipeline.Life.Recover(c.Method, c.ID, c.Stream)
		f()
	})
}

// refuseWaiting refuses a call that would have to wait, because the waiting calls already use too
// much memory.
func (c *Call) refuseWaiting() {
	if c.Tool == nil {
		c.answerError(wire.CodeInternal, backlogFull)
		return
	}
	r := PlainRefusal("busy", c.Tool.Exposed+" was not called and nothing was spent: "+backlogFull)
	c.pipeline.RecordRefusal(c, r)
	c.answer(r)
}

// complete passes the result of a request to the goroutine that waits for the call. If no goroutine
// waits, complete handles the result itself.
func (c *Call) complete(done completion) {
	if !c.sendToWaiter(done) {
		done.answer(c)
	}
}

// answer responds to the client that made the call c, with the InputRequiredResult or the server's
// reply.
func (done completion) answer(c *Call) {
	switch {
	case done.round != nil:
		c.replyRaw(wire.ResultHead(c.ID), done.round)
	case done.settled && done.inflight.handle != nil:
		done.inflight.answerTask(c)
	case done.settled:
		c.deliver(done.reply, wire.ResultFacts(done.reply.Result))
	default:
		done.inflight.finish(c, done.reply, nil)
	}
}

// Begin serves a call on the current goroutine, which must then call [Call.Wait]. Steps that block
// end when ctx is done. A caller that cancels ctx must also cancel the call.
func (p *Pipeline) Begin(ctx context.Context, c *Call) {
	c.startWaiting()
	if c.Tool == nil || c.Tool.Upstream.OneReader() {
		c.outbox = session.NewOutbox()
	}
	c.Spawn = func(f func()) { // may block, because no other call depends on this goroutine
		c.Turn.Release()
		c.Bind(ctx)
		c.spawned = f
	}
	p.Serve(c)
	c.Turn.Release()
}

// Wait continues a call that Begin has served, and returns when the call has been answered. A call
// can wait for a long time, so the caller's stack should be small.
func (c *Call) Wait() {
	for {
		f := c.spawned
		switch c.spawned = nil; {
		case f != nil:
			f()
		case !c.await() && c.spawned == nil: // c.spawned can have been set while handling the reply
			return
		}
	}
}

// await waits until the call's request to the server is completed, and meanwhile writes the
// server's notifications. It reports whether handling the reply has started another request to the
// server.
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
				c.outbox.WriteTo(c.Stream) // notifications that arrived before the reply
			}
			if !open {
				return false
			}
			done.answer(c)
			return c.hasRoundAfter(*done)
		}
	}
}

// Bind derives the call's context from parent, unless it has already done so.
func (c *Call) Bind(parent context.Context) {
	if c.parent == parent {
		return
	}
	ctx, stop := context.WithCancelCause(parent)
	c.parent, c.ctx = parent, ctx
	c.setStop(stop)
}
