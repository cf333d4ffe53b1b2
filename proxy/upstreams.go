package proxy

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// upstreamState is one connection to an MCP server: the one that sessions share,
// or a dedicated one of a session.
type upstreamState struct {
	*upstream.Upstream
	config  Upstream
	several bool // it is one of several

	listing   relisting      // of its tools
	flights   queue          // calls that were sent and have no answer
	abandoned abandonedCalls // that the server may be busy with

	branches branches       // of a trunk
	underway share          // calls at a trunk and its branches, where they are counted
	trunk    *upstreamState // of a branch; nil: this is a trunk
	session  *session       // whose branch it is
	closed   chan struct{}  // closed when the branch has ended
	used     atomic.Int64   // when a request was last sent there

	once    sync.Once
	settled chan struct{} // closed when it was listed first, or is known to be down
}

func newUpstreamState(c Upstream, several bool) *upstreamState {
	return &upstreamState{config: c, several: several, settled: make(chan struct{})}
}

// rev is the family of revisions that the server speaks.
func (u *upstreamState) rev() *rev.Rev { return u.State().Rev() }

// starting reports whether u was neither listed nor is known to be down.
func (u *upstreamState) starting() bool {
	select {
	case <-u.settled:
		return false
	default:
		return true
	}
}

// ended reports whether a branch has ended.
func (u *upstreamState) ended() bool {
	select {
	case <-u.closed: // nil of a trunk, which stays
		return true
	default:
		return false
	}
}

func (u *upstreamState) settle() { u.once.Do(func() { close(u.settled) }) }

// stateChanged follows u: its tools while it is up, and what it had while it
// is down, so that the list of the clients does not flicker.
func (p *Proxy) stateChanged(u *upstreamState) {
	state := u.State()
	switch state.Phase {
	case upstream.Up:
		if u.trunk != nil {
			u.settle()
			p.background(func() { p.renew(u) })
			return
		}
		p.listening(u)
		p.background(func() { p.renew(u) })
	case upstream.Down, upstream.Failed:
		if p.ctx.Err() != nil { // we ended it
			return
		}
		u.listing.logged.Store(false)
		p.log.Warn("upstream is down", "upstream", u.config.Name, "reason", state.Err)
		u.settle()
	}
}

// renew asks a server that has just come up for what the clients want of it.
func (p *Proxy) renew(u *upstreamState) {
	watched := p.watched.at(u)
	watched.reset()
	if u.has("resources") {
		watched.ask(u, p.watchedAt(u))
	}
	ctx, cancel := context.WithTimeout(p.ctx, levelTimeout)
	defer cancel()
	p.setUpstreamLevel(ctx, u, true)
}

// listening stands in for what u may have said before it was heard.
func (p *Proxy) listening(u *upstreamState) {
	if u.trunk != nil { // the lists are the trunk's
		return
	}
	p.relist(u, false)
	if p.anyCan("prompts", "listChanged") {
		p.announceSoon(promptsListChanged)
	}
	if p.anyCan("resources", "listChanged") {
		p.announceSoon(resourcesListChanged)
	}
}

// heard takes a notification that belongs to no call. It runs on the
// connection's reader and hands off what could take time.
func (p *Proxy) heard(u *upstreamState, method string, params []byte) {
	if p.tasks.notification(u, method, params) {
		return
	}
	switch method {
	case listChanged:
		p.relist(u.root(), true)
	case promptsListChanged, resourcesListChanged:
		p.announceSoon(method)
	case resourceUpdated:
		p.updated(u, params)
	case elicitationComplete:
		p.returned(u, params)
	case "notifications/message":
		p.logged(u, params)
	default:
		p.log.Debug("notification of an upstream dropped", "upstream", u.config.Name, "method", method)
	}
}

// forgetConnection forgets what the parts of the proxy know of a connection that has
// ended.
func (p *Proxy) forgetConnection(u *upstreamState) {
	p.watched.forget(u)
	p.levels.forget(u)
	p.urlElicitations.forget(u)
}

// bursts puts what comes of many messages of one connection together into few
// writes. The connection's reader calls it.
func (p *Proxy) bursts() func(begins bool) {
	var corked *lines.Writer
	return func(begins bool) {
		if begins {
			corked = p.sessions.stdio.Load()
		}
		switch {
		case corked == nil:
		case begins:
			corked.Cork()
		default:
			corked.Uncork()
			corked = nil
		}
	}
}
