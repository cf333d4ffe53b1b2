package streamable

import (
	"context"
	"time"
)

func (c *Conn) Redeclare(ctx context.Context) {
	select {
	case <-c.streamed: // that was the old one
	default:
	}
	if s := c.Current.Load(); s != nil && c.renew(ctx, s) == nil { // else the old session stays
		c.AwaitStream(ctx)
	}
}

// streamWait bounds the wait for the stream of a new session, on which servers
// ask what belongs to no request, as some do with what belongs to one.
const streamWait = 250 * time.Millisecond

func (c *Conn) AwaitStream(ctx context.Context) {
	timer := time.NewTimer(streamWait)
	defer timer.Stop()
	select {
	case <-c.streamed:
	case <-timer.C:
	case <-ctx.Done():
	}
}
