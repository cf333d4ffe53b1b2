package pipeline

import (
	"context"
	"runtime"

	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// Bind derives the context of the call from parent, unless it is derived from parent already.
func (c *Call) Bind(parent context.Context) {
	if c.parent == parent {
		return
	}
	ctx, stop := context.WithCancelCause(parent)
	c.parent, c.ctx = parent, ctx
	c.setStop(stop)
}

// spawnHeld counts the message of the call in the backlog and spawns f. If the backlog is full, it
// answers the call instead.
func (c *Call) spawnHeld(f func()) {
	switch {
	case c.countWaiting():
		c.Spawn(f)
	case c.Tool == nil:
		c.answerError(spec.CodeInternal, backlogFull)
	default:
		r := PlainRefusal("busy", c.Tool.Exposed+" was not called and nothing was spent: "+backlogFull)
		c.pipeline.RecordRefusal(c, r)
		c.answer(r)
	}
}

// spawnFromReply runs f, which can block, off the goroutine that reads the server's replies: on the
// goroutine that waits for the call, if one does, and otherwise on a goroutine of its own.
func (c *Call) spawnFromReply(f func()) {
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

// yield lets other runnable goroutines run first if many calls are in flight to a server over HTTP,
// each on a goroutine of its own: then their records are written together.
func (c *Call) yield() {
	if u := c.Tool.Upstream; !u.OneReader() && u.InFlight.Len() >= burst.Several {
		runtime.Gosched()
	}
}
