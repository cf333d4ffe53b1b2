package pipeline

import (
	"context"
	"fmt"
)

// place puts the call at the connection that serves its session: the shared one of the
// server, or a dedicated one. It serves the call when that connection is up and the
// capabilities of the client are declared to it, and waits for this where it has to.
func (p *Pipeline) place(c *Call) bool {
	if c.placed {
		return true
	}
	c.placed = true
	if !c.Tool.Upstream.Dedicated() && !p.dedicate(c) {
		return false
	}
	u := c.Tool.Upstream
	if !c.Peer.Rev.PerRequest || u.Dedicated() || u.Declares(c.Peer.Capabilities) { // a handshake has declared them
		return true
	}
	c.spawnHeld(func() {
		p.Pool.Declare(c.ctx, c.Peer)
		p.Serve(c)
	})
	return false
}

// dedicate puts the call at the dedicated connection of its session, if it has one. It
// reports false where that is not up yet, or cannot be: then the call is served later, or
// is answered.
func (p *Pipeline) dedicate(c *Call) bool {
	shared := c.Tool.Upstream
	at, err := p.Pool.Place(c.Client.Session, shared, c.Peer)
	if err != nil {
		r := PlainRefusal("unavailable", fmt.Sprintf("%s was not called and nothing was spent: %v. End a session that is not used any more, or try again later.", c.Tool.Exposed, err))
		p.RecordRefusal(c, r)
		c.answer(r)
		return false
	}
	if at == shared {
		return true
	}
	own := *c.Tool
	own.Upstream = at
	c.Tool = &own
	if !at.Starting() && at.Declares(c.Peer.Forwarded()) {
		return true
	}
	c.spawnHeld(func() {
		ctx, cancel := context.WithTimeout(c.ctx, p.StartupLimit)
		defer cancel()
		at.AwaitReady(ctx, c.Peer)
		p.Serve(c)
	})
	return false
}
