package pipeline

import (
	"context"
	"runtime"

	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A reader is a goroutine that must not block, because it reads the messages of many calls.
type reader int

const (
	clientReader reader = iota // reads the client's messages
	serverReader               // reads the server's replies
)

// continueOff runs the rest of the call, f, which can block, off a reader. Off the client's reader,
// [Call.Spawn] runs it, after the message of the call is counted in the backlog; a call for which
// the backlog has no room is answered instead. Off the server's reader, it runs on the goroutine
// that waits for the call, if one does, and otherwise on a goroutine of its own.
func (c *Call) continueOff(r reader, f func()) {
	if r == clientReader {
		if c.pipeline.backlog.count(c) {
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
		defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
		f()
	})
}

// refuseWaiting answers a call for which the backlog has no room.
func (c *Call) refuseWaiting() {
	if c.Tool == nil {
		c.answerError(spec.CodeInternal, backlogFull)
		return
	}
	r := PlainRefusal("busy", c.Tool.Exposed+" was not called and nothing was spent: "+backlogFull)
	c.pipeline.RecordRefusal(c, r)
	c.answer(r)
}

// complete sends done to the goroutine that waits for the call. If no goroutine waits, it answers
// the call itself.
func (c *Call) complete(done completion) {
	if !c.sendToWaiter(done) {
		done.answer(c)
	}
}

// answer answers the call with the completion of its round.
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

// yield lets other runnable goroutines run first if many calls are in flight to a server over HTTP,
// each on a goroutine of its own: then their records are written together.
func (c *Call) yield() {
	if u := c.Tool.Upstream; !u.OneReader() && u.InFlight.Len() >= burst.Several {
		runtime.Gosched()
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
		c.Turn.Release()
		c.Bind(ctx)
		c.spawned = f
	}
	p.Serve(c)
	c.Turn.Release()
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
			done.answer(c)
			return c.hasRoundAfter(*done)
		}
	}
}

// Bind derives the context of the call from parent, unless it is derived from parent already.
func (c *Call) Bind(parent context.Context) {
	if c.parent == parent {
		return
	}
	ctx, stop := context.WithCancelCause(parent)
	c.parent, c.ctx = parent, ctx
	c.setStop(stop)
}
