package router

import (
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// DropClient forgets a client that is gone. It cancels its requests, and ends its
// session unless that belongs to the principal.
func (p *Router) DropClient(c *session.Client) {
	p.Sessions.Remove(c)
	p.Advertiser.Forget(c)
	watched, leveled := c.Interests.Watches(), c.Ready() && p.Sessions.Leveled.Load()
	c.Requests.CancelAll(spec.ErrGone)
	c.Questions.End()
	if c.Session.By == "connection" {
		p.Tasks.Forget(c.Session)
		p.leave(c.Session)
		p.endSession(c.Session)
	}
	if watched {
		p.Life.Background(p.Relay.Rewatch)
	}
	if leveled {
		p.Life.Background(func() { p.Relay.Relevel(p.Life.Ctx) })
	}
}

// EndClient drops a client whose session over HTTP is over.
func (p *Router) EndClient(c *session.Client) {
	p.DropClient(c)
	c.Streams.Close()
	if push, ok := c.Out.(*events.Push); ok {
		push.Close()
	}
}
