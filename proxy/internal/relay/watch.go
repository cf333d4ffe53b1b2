package relay

import (
	"context"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Watch serves resources/subscribe and resources/unsubscribe (up to 2025-11-25). The
// resource stays subscribed at its server while any client watches it.
func (p *Relay) Watch(ctx context.Context, c *session.Client, m wire.Message, s spec.Stream) {
	uri := spec.Member(m.Params, "uri")
	p.Pool.AwaitUpstreams(ctx)
	u := p.ResourceOwner(ctx, uri)
	switch {
	case uri == StatusURI && p.OffersStatus():
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, StatusURI+" cannot be watched; read it again", nil))
		return
	case len(p.Pool.Offering("resources")) == 0 || !p.Pool.AnyCan("resources", "subscribe"):
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeNoMethod, "no upstream has resources that can be watched", nil))
		return
	case uri == "" || u == nil:
		s.Reply(UnknownResource(m.ID, uri, rev.Rev2025))
		return
	}
	on := m.Method == "resources/subscribe"
	if why := p.wouldRefuseResource(c, u, uri); on && why != "" {
		s.Reply(spec.RefusedRequest(m.ID, why))
		return
	}
	u, err := p.Pool.PlaceAndWait(ctx, c, c.PeerOf(wire.Meta{}), u)
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInternal, err.Error(), nil))
		return
	}
	if !c.Subscriptions.Watch(uri, on) {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidRequest, "too many resources are watched", nil))
		return
	}
	watched := p.Watched.At(u)
	if u.Rev().Subscriptions || on == watched.has(uri) || !on && watchers(u, p.Sessions.Clients(), uri) > 0 {
		p.Rewatch()
		s.Reply(wire.AppendResult(nil, m.ID, []byte(`{}`)))
		return
	}
	watched.note(uri, on) // what the upstream answers is the client's to know
	done := p.relay(ctx, c, m, wire.Meta{}, s, u)
	if on && !done {
		c.Subscriptions.Watch(uri, false)
		watched.note(uri, false)
	}
	if !on || !done {
		p.Rewatch() // for whoever has come to watch it meanwhile
	}
}

// watchedBy reports whether u is the connection at which c watches resources: the shared
// one until the session of c has a dedicated one.
func watchedBy(u *pool.Server, c *session.Client) bool {
	if u.Dedicated() {
		return u.Session == c.Session
	}
	at := u.ConnectionOf(c.Session, c.PeerOf(wire.Meta{}))
	return at == nil || at == u
}

// watchers returns how many clients watch a resource at u.
func watchers(u *pool.Server, clients []*session.Client, uri string) (n int) {
	for _, c := range clients {
		if !watchedBy(u, c) {
			continue
		}
		if told, subscribers := c.Subscriptions.OfResource(uri); told || len(subscribers) > 0 {
			n++
		}
	}
	return n
}

// Updated passes notifications/resources/updated to the clients that watch the resource,
// on each of their subscriptions.
func (p *Relay) Updated(u *pool.Server, params []byte) {
	uri := spec.Member(params, "uri")
	for _, c := range p.Sessions.Clients() {
		if !watchedBy(u, c) {
			continue
		}
		told, subscribers := c.Subscriptions.OfResource(uri)
		if told && c.Out != nil {
			c.Out.Send(wire.AppendNotification(nil, spec.ResourceUpdated, wire.WithSubscription(params, "")))
		}
		for _, s := range subscribers {
			s.Outbox.Add(wire.AppendNotification(nil, spec.ResourceUpdated, wire.WithSubscription(params, s.ID)))
		}
	}
}

// WatchedAt returns the resources that clients watch at u.
func (p *Relay) WatchedAt(u *pool.Server) []string {
	all := map[string]bool{}
	for _, c := range p.Sessions.Clients() {
		if !watchedBy(u, c) {
			continue
		}
		c.Subscriptions.AddResources(all)
	}
	var uris []string
	for uri := range all {
		if p.Resources.Owner(p.Pool.Servers, uri) == u.Shared() {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}

// Rewatch subscribes the proxy at the servers to just the resources that clients watch.
func (p *Relay) Rewatch() {
	for _, u := range p.Pool.Connections() {
		if u.Has("resources") {
			p.Watched.At(u).Ask(u, p.WatchedAt(u))
		}
	}
}

// watchedResources are the resources that the proxy is subscribed to at a server.
type watchedResources struct {
	mu   sync.Mutex
	uris []string
}

// has reports whether the proxy is subscribed to uri.
func (w *watchedResources) has(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.uris, uri)
}

// note notes a subscription that a client's own request has made or ended.
func (w *watchedResources) note(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = slices.DeleteFunc(w.uris, func(s string) bool { return s == uri })
	if on {
		w.uris = append(w.uris, uri)
	}
}

// Reset forgets the subscriptions of a server that has just come up.
func (w *watchedResources) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = nil
}

// Ask subscribes to just these resources: by one subscriptions/listen (2026-07-28), or by
// resources/subscribe and resources/unsubscribe for what has changed.
func (w *watchedResources) Ask(u *pool.Server, uris []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.uris
	w.uris = uris
	if u.Rev().Subscriptions {
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
