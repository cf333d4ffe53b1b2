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

// Watch serves resources/subscribe and resources/unsubscribe (revisions up to 2025-11-25). The
// proxy stays subscribed to a resource at its server while any client watches it.
func (p *Relay) Watch(ctx context.Context, q session.Request) ([]byte, error) {
	c, uri := q.Client, rawjson.StringAt(q.Message.Params, "uri")
	p.Pool.AwaitUpstreams(ctx)
	u := p.ResourceOwner(ctx, uri)
	switch {
	case uri == StatusURI && p.OffersStatus():
		return nil, wire.NewFault(wire.CodeInvalidParams, StatusURI+" cannot be watched; read it again")
	case len(p.Pool.ServersWith("resources")) == 0 || !p.Pool.AnyHasFlag("resources", "subscribe"):
		return nil, wire.NewFault(wire.CodeMethodNotFound, "no upstream has resources that can be watched")
	case uri == "" || u == nil:
		return nil, UnknownResource(nil, uri, rev.Rev2025)
	}
	on := q.Message.Method == "resources/subscribe"
	if why := p.wouldRefuseResource(c, u, uri); on && why != "" {
		return nil, wire.NewFault(wire.CodeInvalidRequest, why)
	}
	u, err := p.Pool.PlaceAndWait(ctx, c, c.PeerOf(wire.Meta{}), u)
	if err != nil {
		return nil, err
	}
	if !c.Subscriptions.Watch(uri, on) {
		return nil, wire.NewFault(wire.CodeInvalidRequest, "too many resources are watched")
	}
	watched := p.Watched.At(u)
	if u.Rev().Subscriptions || on == watched.has(uri) || !on && p.anyWatches(u, uri) {
		p.Rewatch()
		return []byte(`{}`), nil
	}
	watched.note(uri, on) // forward the request, because the client must get the upstream's own response
	result, err := p.newRequest(q, u).Serve(ctx)
	if on && result == nil {
		c.Subscriptions.Watch(uri, false)
		watched.note(uri, false)
	}
	if !on || result == nil {
		p.Rewatch() // other clients may have started to watch the resource in the meantime
	}
	return result, err
}

// watchedBy reports whether the client c watches resources through the connection u. A client uses
// its session's dedicated connection if there is one, and the shared connection otherwise.
func watchedBy(u *pool.Server, c *session.Client) bool {
	if u.Dedicated() {
		return u.Session == c.Session
	}
	at := u.ConnectionOf(c.Session, c.PeerOf(wire.Meta{}))
	return at == nil || at == u
}

// anyWatches reports whether any client watches the resource through u.
func (p *Relay) anyWatches(u *pool.Server, uri string) bool {
	return slices.ContainsFunc(p.Sessions.Clients(), func(c *session.Client) bool {
		told, subscribers := c.Subscriptions.OfResource(uri)
		return watchedBy(u, c) && (told || len(subscribers) > 0)
	})
}

// Updated forwards notifications/resources/updated to each client that watches the resource, and to
// each subscription that includes it.
func (p *Relay) Updated(u *pool.Server, params []byte) {
	uri := rawjson.StringAt(params, "uri")
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

// WatchedAt returns the resources watched by clients through u.
func (p *Relay) WatchedAt(u *pool.Server) []string {
	all := map[string]bool{}
	for _, c := range p.Sessions.Clients() {
		if watchedBy(u, c) {
			c.Subscriptions.AddResources(all)
		}
	}
	var uris []string
	for uri := range all {
		if p.Resources.Owner(p.Pool.Servers, uri) == u.SharedConnection() {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris
}

// Rewatch updates the proxy's subscriptions at the servers to match the resources watched by
// clients.
func (p *Relay) Rewatch() {
	for _, u := range p.Pool.Connections() {
		if u.Has("resources") {
			p.Watched.At(u).Ask(u, p.WatchedAt(u))
		}
	}
}

// watchable filters uris in place and returns the URIs that the client c can watch. It removes
// resources that no server offers, resources that the gate would refuse, and the proxy's own status
// resource.
func (p *Relay) watchable(ctx context.Context, c *session.Client, uris []string) []string {
	if slices.ContainsFunc(uris, func(uri string) bool { return p.Resources.Owner(p.Pool.Servers, uri) == nil }) {
		p.listResources(ctx, p.Pool.ServersWith("resources"))
	}
	return slices.DeleteFunc(uris, func(uri string) bool {
		u := p.Resources.Owner(p.Pool.Servers, uri)
		return u == nil || uri == StatusURI && p.OffersStatus() || p.wouldRefuseResource(c, u, uri) != ""
	})
}

// watchedResources holds the URIs of the resources that the proxy has subscribed to at one server.
type watchedResources struct {
	mu   sync.Mutex
	uris []string
}

// has reports whether the proxy has subscribed to the given URI.
func (w *watchedResources) has(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.uris, uri)
}

// note records whether the proxy is subscribed to the given URI.
func (w *watchedResources) note(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = slices.DeleteFunc(w.uris, func(s string) bool { return s == uri })
	if on {
		w.uris = append(w.uris, uri)
	}
}

// Reset forgets all subscriptions, because a server that has come up again no longer has them.
func (w *watchedResources) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = nil
}

// Ask updates the proxy's subscriptions at the server to match uris. In revision 2026-07-28, it
// sends one subscriptions/listen request. In earlier revisions, it sends a resources/subscribe or
// resources/unsubscribe request for each URI added or removed.
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
