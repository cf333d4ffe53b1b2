package proxy

import (
	"github.com/petrigate/petrigate/proxy/internal/events"
)

// dropClient forgets a client that is gone. It cancels its requests, and ends its
// session unless that belongs to the principal.
func (p *Proxy) dropClient(c *client) {
	p.sessions.remove(c)
	p.advisor.forget(c)
	watched, leveled := c.interests.watches(), c.ready() && p.sessions.leveled.Load()
	c.requests.cancelAll(errGone)
	c.questions.end()
	if c.session.by == "connection" {
		p.tasks.forget(c.session)
		p.leave(c.session)
		p.endSession(c.session)
	}
	if watched {
		p.background(p.rewatch)
	}
	if leveled {
		p.background(func() { p.relevel(p.ctx) })
	}
}

// endClient drops a client whose session over HTTP is over.
func (p *Proxy) endClient(c *client) {
	p.dropClient(c)
	c.streams.Close()
	if push, ok := c.out.(*events.Push); ok {
		push.Close()
	}
}
