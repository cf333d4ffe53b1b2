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

// Watch serves resources/subscribe and resources/unsubscribe of clients with a
// handshake. The resource stays subscribed at its upstream while anybody
// watches it.
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

// watchedBy reports whether u is where c watches resources. What is watched
// before the client is served anywhere is watched at the trunk.
func watchedBy(u *pool.Server, c *session.Client) bool {
	if u.Dedicated() {
		return u.Session == c.Session
	}
	at := u.ConnectionOf(c.Session, c.PeerOf(wire.Meta{}))
	return at == nil || at == u
}

// watchers is how many clients watch a resource there.
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

// Updated tells those who watch a resource that it has changed. Each message
// on a subscription names it.
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

// WatchedAt is all resources that clients watch at one upstream.
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

// Rewatch brings what the upstreams are asked to tell of in line with what the
// clients watch.
func (p *Relay) Rewatch() {
	for _, u := range p.Pool.Connections() {
		if u.Has("resources") {
			p.Watched.At(u).Ask(u, p.WatchedAt(u))
		}
	}
}

// WatchedResources are those that a server was asked to tell the changes of.
type WatchedResources struct {
	mu   sync.Mutex
	uris []string
}

// has reports whether the server was asked to tell of changes to uri.
func (w *WatchedResources) has(uri string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.uris, uri)
}

// note adds or removes a resource that the server is asked for by others.
func (w *WatchedResources) note(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = slices.DeleteFunc(w.uris, func(s string) bool { return s == uri })
	if on {
		w.uris = append(w.uris, uri)
	}
}

// Reset is for a server that has just come up, and knows of none.
func (w *WatchedResources) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.uris = nil
}

// Ask asks the server for changes to just these resources: by one stream of
// subscriptions/listen since 2026-07-28, and before by resources/subscribe and
// resources/unsubscribe for what is new and what is not wanted any more.
func (w *WatchedResources) Ask(u *pool.Server, uris []string) {
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
