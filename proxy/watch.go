package proxy

import (
	"context"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// watch serves resources/subscribe and resources/unsubscribe of clients with a
// handshake. The resource stays subscribed at its upstream while anybody
// watches it.
func (p *Proxy) watch(ctx context.Context, c *client, m wire.Message, s stream) {
	uri := member(m.Params, "uri")
	p.awaitUpstreams(ctx)
	u := p.resourceOwner(ctx, uri)
	switch {
	case uri == statusURI && p.offersStatus():
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, statusURI+" cannot be watched; read it again", nil))
		return
	case len(p.offering("resources")) == 0 || !p.anyCan("resources", "subscribe"):
		s.Reply(wire.AppendError(nil, m.ID, codeNoMethod, "no upstream has resources that can be watched", nil))
		return
	case uri == "" || u == nil:
		s.Reply(unknownResource(m.ID, uri, false))
		return
	}
	on := m.Method == "resources/subscribe"
	if why := p.barredResource(c, u, uri); on && why != "" {
		s.Reply(refusedRequest(m.ID, why))
		return
	}
	u, err := p.placed(ctx, c, c.speaker(wire.Meta{}), u)
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, codeInternal, err.Error(), nil))
		return
	}
	if !c.watchResource(uri, on) {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidRequest, "too many resources are watched", nil))
		return
	}
	if u.State().Era == upstream.Modern || on == u.watches(uri) || !on && u.watchers(p.clientList(), uri) > 0 {
		p.rewatch()
		s.Reply(wire.AppendResult(nil, m.ID, []byte(`{}`)))
		return
	}
	u.noteWatched(uri, on) // what the upstream answers is the client's to know
	done := p.relay(ctx, c, m, wire.Meta{}, s, u)
	if on && !done {
		c.watchResource(uri, false)
		u.noteWatched(uri, false)
	}
	if !on || !done {
		p.rewatch() // for whoever has come to watch it meanwhile
	}
}

// watches reports whether the server was asked to tell of changes to uri.
func (u *upstreamState) watches(uri string) bool {
	u.watching.Lock()
	defer u.watching.Unlock()
	return slices.Contains(u.watched, uri)
}

func (u *upstreamState) noteWatched(uri string, on bool) {
	u.watching.Lock()
	defer u.watching.Unlock()
	u.watched = slices.DeleteFunc(u.watched, func(s string) bool { return s == uri })
	if on {
		u.watched = append(u.watched, uri)
	}
}

// watchResource notes whether c watches a resource; false: it watches too many.
func (c *client) watchResource(uri string, on bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !on {
		delete(c.watched, uri)
		return true
	}
	size := len(uri)
	for other := range c.watched {
		size += len(other)
	}
	if len(c.watched) >= maxWatched || size > maxWatchedBytes {
		return false
	}
	if c.watched == nil {
		c.watched = map[string]bool{}
	}
	c.watched[uri] = true
	return true
}

// watchedBy reports whether u is where c watches resources. What is watched
// before the client is served anywhere is watched at the trunk.
func (u *upstreamState) watchedBy(c *client) bool {
	if u.trunk != nil {
		return u.session == c.session
	}
	at := u.at(c.session, c.speaker(wire.Meta{}))
	return at == nil || at == u
}

// watchers is how many clients watch a resource there.
func (u *upstreamState) watchers(clients []*client, uri string) (n int) {
	for _, c := range clients {
		if !u.watchedBy(c) {
			continue
		}
		if told, subscribers := c.watches(uri); told || len(subscribers) > 0 {
			n++
		}
	}
	return n
}

// watches says how a client is to be told of changes to a resource.
func (c *client) watches(uri string) (told bool, subscribers []*subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.subscriptions {
		if slices.Contains(s.resources, uri) {
			subscribers = append(subscribers, s)
		}
	}
	return c.watched[uri], subscribers
}

// updated tells those who watch a resource that it has changed. Each message
// on a subscription names it.
func (p *Proxy) updated(u *upstreamState, params []byte) {
	uri := member(params, "uri")
	for _, c := range p.clientList() {
		if !u.watchedBy(c) {
			continue
		}
		told, subscribers := c.watches(uri)
		if told && c.out != nil {
			c.out.Send(wire.AppendNotification(nil, resourceUpdated, wire.WithSubscription(params, "")))
		}
		for _, s := range subscribers {
			s.notes.add(wire.AppendNotification(nil, resourceUpdated, wire.WithSubscription(params, s.id)))
		}
	}
}

const resourceUpdated = "notifications/resources/updated"

// watchedAt is all resources that clients watch at one upstream.
func (p *Proxy) watchedAt(u *upstreamState) []string {
	all := map[string]bool{}
	for _, c := range p.clientList() {
		if !u.watchedBy(c) {
			continue
		}
		c.mu.Lock()
		for uri := range c.watched {
			all[uri] = true
		}
		for _, s := range c.subscriptions {
			for _, uri := range s.resources {
				all[uri] = true
			}
		}
		c.mu.Unlock()
	}
	var uris []string
	trunk := u
	if u.trunk != nil {
		trunk = u.trunk
	}
	for uri := range all {
		if p.resources.owner(p.upstreams, uri) == trunk {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}

// rewatch brings what the upstreams are asked to tell of in line with what the
// clients watch.
func (p *Proxy) rewatch() {
	for _, u := range p.connections() {
		if u.has("resources") {
			u.watch(p.watchedAt(u))
		}
	}
}

// watch asks the server for changes to just these resources. What a legacy
// one was asked for is kept, to ask for the difference.
func (u *upstreamState) watch(uris []string) {
	u.watching.Lock()
	defer u.watching.Unlock()
	before := u.watched
	u.watched = uris
	if u.State().Era == upstream.Modern {
		if !slices.Equal(before, uris) {
			u.Watch(uris)
		}
		return
	}
	for _, uri := range uris {
		if !slices.Contains(before, uri) {
			u.Send(upstream.Request{Method: "resources/subscribe", Params: uriParams(uri)})
		}
	}
	for _, uri := range before {
		if !slices.Contains(uris, uri) {
			u.Send(upstream.Request{Method: "resources/unsubscribe", Params: uriParams(uri)})
		}
	}
}

func uriParams(uri string) []byte {
	return append(rawjson.AppendString([]byte(`{"uri":`), uri), '}')
}
