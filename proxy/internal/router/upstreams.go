package router

import (
	"context"

	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// StateChanged follows u: its tools while it is up, and what it had while it
// is down, so that the list of the clients does not flicker.
func (p *Router) StateChanged(u *pool.Server) {
	state := u.State()
	switch state.Phase {
	case upstream.Up:
		if u.Trunk != nil {
			u.Settle()
			p.Life.Background(func() { p.renew(u) })
			return
		}
		p.Listening(u)
		p.Life.Background(func() { p.renew(u) })
	case upstream.Down, upstream.Failed:
		if p.Life.Ctx.Err() != nil { // we ended it
			return
		}
		u.Listing.Logged.Store(false)
		p.Life.Log.Warn("upstream is down", "upstream", u.Config.Name, "reason", state.Err)
		u.Settle()
	}
}

// renew asks a server that has just come up for what the clients want of it.
func (p *Router) renew(u *pool.Server) {
	watched := p.Relay.Watched.At(u)
	watched.Reset()
	if u.Has("resources") {
		watched.Ask(u, p.Relay.WatchedAt(u))
	}
	ctx, cancel := context.WithTimeout(p.Life.Ctx, spec.LevelTimeout)
	defer cancel()
	p.Relay.SetUpstreamLevel(ctx, u, true)
}

// Listening stands in for what u may have said before it was heard.
func (p *Router) Listening(u *pool.Server) {
	if u.Trunk != nil { // the lists are the trunk's
		return
	}
	p.Pool.Relist(u, false)
	if p.Pool.AnyCan("prompts", "listChanged") {
		p.Relay.AnnounceSoon(spec.PromptsListChanged)
	}
	if p.Pool.AnyCan("resources", "listChanged") {
		p.Relay.AnnounceSoon(spec.ResourcesListChanged)
	}
}

// Heard takes a notification that belongs to no call. It runs on the
// connection's reader and hands off what could take time.
func (p *Router) Heard(u *pool.Server, method string, params []byte) {
	if p.Tasks.Notification(u, method, params) {
		return
	}
	switch method {
	case spec.ListChanged:
		p.Pool.Relist(u.Root(), true)
	case spec.PromptsListChanged, spec.ResourcesListChanged:
		p.Relay.AnnounceSoon(method)
	case spec.ResourceUpdated:
		p.Relay.Updated(u, params)
	case spec.ElicitationComplete:
		p.Reverse.Returned(u, params)
	case "notifications/message":
		p.logged(u, params)
	default:
		p.Life.Log.Debug("notification of an upstream dropped", "upstream", u.Config.Name, "method", method)
	}
}

// Bursts puts what comes of many messages of one connection together into few
// writes. The connection's reader calls it.
func (p *Router) Bursts() func(begins bool) {
	var corked *lines.Writer
	return func(begins bool) {
		if begins {
			corked = p.Sessions.Stdio.Load()
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
