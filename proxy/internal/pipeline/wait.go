package pipeline

import (
	"context"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

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
			c.receive(*done, nil)
			return c.hasRoundAfter(*done)
		}
	}
}
