package router

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ServerNotification handles a server's notification that belongs to no call. It runs on the
// goroutine that reads from the connection, and starts another goroutine for work that may take
// time.
func (r *Router) ServerNotification(u *pool.Server, method string, params []byte) {
	if r.Tasks.Notification(u, method, params) {
		return
	}
	switch method {
	case spec.ListChanged:
		r.Pool.Relist(u.SharedConnection(), true)
	case spec.PromptsListChanged, spec.ResourcesListChanged:
		r.Relay.AnnounceSoon(method)
	case spec.ResourceUpdated:
		r.Relay.Updated(u, params)
	case spec.ElicitationComplete:
		r.Reverse.ElicitationComplete(u, params)
	case "notifications/message":
		r.relayLog(u, params)
	default:
		r.Life.Log.Debug("dropped a notification from an upstream", "upstream", u.Config.Name, "method", method)
	}
}

// ServerRequest handles a server's request (roots/list, sampling/createMessage or
// elicitation/create) that does not belong to a client's request. If the request can only be meant
// for one client, ServerRequest forwards it to that client. Otherwise, it refuses the request.
func (r *Router) ServerRequest(u *pool.Server, q *upstream.ServerRequest) {
	if r.Tasks.ServerRequest(u, q) {
		return
	}
	if u.DedicateNext() {
		r.Life.Log.Info("an upstream sends requests to clients: new sessions get their own connection to it", "upstream", u.Config.Name, "method", q.Method)
	}
	flights := pipeline.InFlight(u)
	if len(flights) == 1 && !u.Abandoned.HasOthers(flights[0].Call.Client.Session) {
		flights[0].OnRequest(q, false)
		return
	}
	var only *session.Client
	var s spec.Stream
	for _, f := range flights {
		t := f.Receiver()
		if t == nil || t.Peer.Rev.InputRequired || only != nil && only != t.Client {
			r.refuseUnattributed(u, q)
			return
		}
		only, s = t.Client, t.Stream
	}
	if only == nil {
		only = r.onlyClient(u)
		if only != nil {
			s = only.Out
		}
	}
	switch {
	case only == nil || s == nil || u.Abandoned.HasOthers(only.Session):
		r.refuseUnattributed(u, q)
	case session.CheckCapability(only.PeerOf(wire.Meta{}), q):
		u.Pin(only.Session)
		r.Reverse.PassOn(only, s, u, q)
	}
}

// ServerStateChanged is called when a connection comes up or goes down. The tools of a server that
// is down remain in the list, so that clients do not see them disappear and return.
func (r *Router) ServerStateChanged(u *pool.Server) {
	state := u.State()
	switch state.Phase {
	case upstream.Up:
		if u.Dedicated() {
			u.MarkStarted()
		}
		r.ServerListening(u)
		r.Life.Background(func() { r.restore(u) })
	case upstream.Down, upstream.Failed:
		if r.Life.Ctx.Err() != nil { // the proxy is shutting down
			return
		}
		u.Listing.Logged.Store(false)
		r.Life.Log.Warn("upstream is down", "upstream", u.Config.Name, "reason", state.Err)
		u.MarkStarted()
	}
}

// restore sends the clients' resource subscriptions and log level to a server that has just come
// up.
func (r *Router) restore(u *pool.Server) {
	watched := r.Relay.Watched.At(u)
	watched.Reset()
	if u.Has("resources") {
		watched.Ask(u, r.Relay.WatchedAt(u))
	}
	ctx, cancel := context.WithTimeout(r.Life.Ctx, spec.LevelTimeout)
	defer cancel()
	r.Relay.SetUpstreamLevel(ctx, u, true)
}

// ServerListening is called when the proxy starts to receive the notifications of u. The lists of u
// may have changed before that. ServerListening therefore requests the tools of u. It also sends
// list_changed for prompts and resources to the clients that have fetched these lists or subscribed
// to them. It does nothing if u is a dedicated connection.
func (r *Router) ServerListening(u *pool.Server) {
	if u.Dedicated() { // lists are requested only on the shared connection
		return
	}
	if r.Pool.AnyHasFlag("prompts", "listChanged") {
		r.Relay.AnnounceIfSeen(spec.PromptsListChanged)
	}
	if r.Pool.AnyHasFlag("resources", "listChanged") {
		r.Relay.AnnounceIfSeen(spec.ResourcesListChanged)
	}
	r.Pool.Relist(u, false) // must come last; otherwise, a client that waits for the tools before it fetches other lists could receive a needless list_changed for them
}

// A batch groups messages that were read together from a server. Their audit records are written
// together, and so are the resulting messages to the stdio client.
type batch struct {
	router *Router
	server *pool.Server
	corked *lines.Writer // writer to the stdio client, which holds back its output during a batch; nil between batches or without a stdio client
}

// Batch returns an [upstream.Burst] for the goroutine that reads from u.
func (r *Router) Batch(u *pool.Server) upstream.Burst { return &batch{router: r, server: u} }

// Begin implements [upstream.Burst].
func (b *batch) Begin() {
	if b.corked = b.router.Sessions.Stdio.Load(); b.corked != nil {
		b.corked.Cork()
	}
	b.server.Burst.Begin()
}

// Flush implements [upstream.Burst].
func (b *batch) Flush() { b.server.Burst.Flush() }

// End implements [upstream.Burst].
func (b *batch) End() {
	b.server.Burst.End()
	if b.corked != nil {
		b.corked.Uncork()
		b.corked = nil
	}
}

// onlyClient returns the only client that is served by u and has sent notifications/initialized. It
// returns nil if no client or more than one client fits, or if the client cannot be reached.
func (r *Router) onlyClient(u *pool.Server) (only *session.Client) {
	for _, c := range r.Sessions.Clients() {
		if !u.Serves(c) || !c.Ready.Load() {
			continue
		}
		if push, ok := c.Out.(*events.Push); only != nil || ok && !push.Listening() {
			return nil
		}
		only = c
	}
	return only
}

// refuseUnattributed refuses a server's request that cannot be attributed to a single client.
func (r *Router) refuseUnattributed(u *pool.Server, q *upstream.ServerRequest) {
	text := "cannot tell which client this is for"
	switch u.Config.Isolation {
	case pool.IsolateShared:
		text += ": the clients share this server (isolation: shared)"
	case pool.IsolateSession:
		text = "this connection has no client: petrigate only lists tools over it (isolation: session)"
	default:
		text += "; new sessions have their own " + u.Config.Kind()
	}
	r.Life.Log.Warn("refused a request from an upstream", "upstream", u.Config.Name, "method", q.Method, "reason", text)
	q.Refuse(wire.CodeInternal, text)
}

// relayLog forwards a notifications/message from u that belongs to no request. (Over stdio, log
// messages never belong to a request.) Each client of u that has sent notifications/initialized
// receives the message if it wants messages of that level. If logReceiver returns a call for the
// message, the client of that call also receives it.
func (r *Router) relayLog(u *pool.Server, params []byte) {
	const method = "notifications/message"
	level := spec.LogLevels[rawjson.StringAt(params, "level")]
	for _, c := range r.Sessions.Clients() {
		wanted := c.Ready.Load() && level >= spec.LogLevels[c.LogLevel()]
		if wanted && c.Out != nil && u.Serves(c) {
			c.Out.Send(wire.AppendNotification(nil, method, params))
		}
	}
	if t := logReceiver(u, params); t != nil {
		t.Tell(wire.AppendNotification(nil, method, params))
	}
}

// logReceiver returns a call whose client receives a log message that belongs to no request. The
// call is in flight to u, and its client uses revision 2026-07-28 and wants the message. The
// message could concern any call in flight. logReceiver therefore returns nil if several sessions
// have calls in flight, or if no client is waiting for one of the calls.
func logReceiver(u *pool.Server, params []byte) (receiver *pipeline.Call) {
	var only *session.Session
	for _, f := range pipeline.InFlight(u) {
		t := f.Receiver()
		switch {
		case t == nil || only != nil && only != t.Client.Session:
			return nil
		case t.Peer.Rev.LevelInMeta && t.Client.TakesLog(t.Peer, t.Meta, params):
			receiver = t
		}
		only = t.Client.Session
	}
	return receiver
}
