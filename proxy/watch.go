package proxy

import (
	"context"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
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
		s.Reply(unknownResource(m.ID, uri, rev.Rev2025))
		return
	}
	on := m.Method == "resources/subscribe"
	if why := p.wouldRefuseResource(c, u, uri); on && why != "" {
		s.Reply(refusedRequest(m.ID, why))
		return
	}
	u, err := p.placed(ctx, c, c.speaker(wire.Meta{}), u)
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, codeInternal, err.Error(), nil))
		return
	}
	if !c.interests.watch(uri, on) {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidRequest, "too many resources are watched", nil))
		return
	}
	watched := p.watched.at(u)
	if u.rev().Subscriptions || on == watched.has(uri) || !on && u.watchers(p.sessions.clients(), uri) > 0 {
		p.rewatch()
		s.Reply(wire.AppendResult(nil, m.ID, []byte(`{}`)))
		return
	}
	watched.note(uri, on) // what the upstream answers is the client's to know
	done := p.relay(ctx, c, m, wire.Meta{}, s, u)
	if on && !done {
		c.interests.watch(uri, false)
		watched.note(uri, false)
	}
	if !on || !done {
		p.rewatch() // for whoever has come to watch it meanwhile
	}
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
		if told, subscribers := c.interests.inResource(uri); told || len(subscribers) > 0 {
			n++
		}
	}
	return n
}

// updated tells those who watch a resource that it has changed. Each message
// on a subscription names it.
func (p *Proxy) updated(u *upstreamState, params []byte) {
	uri := member(params, "uri")
	for _, c := range p.sessions.clients() {
		if !u.watchedBy(c) {
			continue
		}
		told, subscribers := c.interests.inResource(uri)
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
	for _, c := range p.sessions.clients() {
		if !u.watchedBy(c) {
			continue
		}
		c.interests.addResources(all)
	}
	var uris []string
	for uri := range all {
		if p.resources.owner(p.upstreams, uri) == u.root() {
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
			p.watched.at(u).ask(u, p.watchedAt(u))
		}
	}
}

// watchedResources are those that a server was asked to tell the changes of.
type watchedResources struct {
	mu   sync.Mutex
	uris []string
}

// has reports whether the server was asked to tell of changes to uri.
func (w *watchedResources) has(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.uris, uri)
}

// note adds or removes a resource that the server is asked for by others.
func (w *watchedResources) note(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = slices.DeleteFunc(w.uris, func(s string) bool { return s == uri })
	if on {
		w.uris = append(w.uris, uri)
	}
}

// reset is for a server that has just come up, and knows of none.
func (w *watchedResources) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = nil
}

// ask asks the server for changes to just these resources: by one stream of
// subscriptions/listen since 2026-07-28, and before by resources/subscribe and
// resources/unsubscribe for what is new and what is not wanted any more.
func (w *watchedResources) ask(u *upstreamState, uris []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.uris
	w.uris = uris
	if u.rev().Subscriptions {
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
