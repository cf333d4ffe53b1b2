package router

import (
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// onlyClient returns the client that has sent initialize and that u serves, if there is exactly one
// such client and it can be reached. Otherwise, it returns nil.
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

// refuseUnattributed refuses a request from a server because several clients may be meant.
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
	r.Life.Log.Warn("refused a question of an upstream", "upstream", u.Config.Name, "method", q.Method, "reason", text)
	q.Refuse(spec.CodeInternal, text)
}

// relayLog forwards a notifications/message from u that does not name a request. Clients that have
// sent initialize receive it if its level is one that they want. If only one session has calls of
// revision 2026-07-28 at u, the client of these calls also receives it. Over stdio, log messages
// never name a request.
func (r *Router) relayLog(u *pool.Server, params []byte) {
	const method = "notifications/message"
	level := spec.LogLevels[spec.Member(params, "level")]
	for _, c := range r.Sessions.Clients() {
		wanted := c.Ready.Load() && level >= spec.LogLevels[c.LogLevel()]
		if wanted && c.Out != nil && u.Serves(c) {
			c.Out.Send(wire.AppendNotification(nil, method, params))
		}
	}
	if t := logsFor(u, params); t != nil {
		t.Tell(wire.AppendNotification(nil, method, params))
	}
}

// logsFor returns the call of revision 2026-07-28 that a log message belongs to. It returns nil if
// that is uncertain, or if the client does not want the message.
func logsFor(u *pool.Server, params []byte) (receiver *pipeline.Call) {
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
