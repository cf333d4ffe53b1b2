package pipeline

import (
	"context"
	"fmt"
)

// place routes the call to the connection that serves its session: the server's shared connection,
// or a dedicated one. The call continues once that connection is up and the client's capabilities
// are declared to the server; if that takes time, place spawns the rest of the call and reports
// false.
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

// dedicate routes the call to the dedicated connection of its session, if the session has one. It
// reports false if that connection is not up yet, and the call is served later, or if it cannot be
// opened, and the call is answered.
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
