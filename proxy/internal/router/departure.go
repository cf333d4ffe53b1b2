package router

import (
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// DropClient forgets a client that is gone. It cancels its requests, and ends its
// session unless that belongs to the principal.
func (r *Router) DropClient(c *session.Client) {
	r.Sessions.Remove(c)
	r.Advertiser.Forget(c)
	watched, leveled := c.Subscriptions.WatchesAny(), c.Ready() && r.Sessions.LogLevelSet.Load()
	c.Requests.CancelAll(spec.ErrGone)
	c.ClientRequests.End()
	if c.Session.By == "connection" {
		r.Tasks.Forget(c.Session)
		r.endDedicated(c.Session)
		r.endSession(c.Session)
	}
	if watched {
		r.Life.Background(r.Relay.Rewatch)
	}
	if leveled {
		r.Life.Background(func() { r.Relay.Relevel(r.Life.Ctx) })
	}
}

// EndClient drops a client whose session over HTTP is over.
func (r *Router) EndClient(c *session.Client) {
	r.DropClient(c)
	c.Streams.Close()
	if push, ok := c.Out.(*events.Push); ok {
		push.Close()
	}
}
