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

// Inquired takes a request of u that came without a sign of what it belongs
// to. It goes to the one client that it can be for, and else to nobody.
func (r *Router) ServerRequest(u *pool.Server, q *upstream.ServerRequest) {
	if r.Tasks.ServerRequest(u, q) {
		return
	}
	if u.DedicateNext() {
		r.Life.Log.Info("an upstream asks clients: sessions that begin now have it for themselves", "upstream", u.Config.Name, "method", q.Method)
	}
	flights := pipeline.FlightsTo(u)
	if len(flights) == 1 && !u.Abandoned.ByOthers(flights[0].Call.Client.Session) {
		flights[0].Inquired(q, false)
		return
	}
	var only *session.Client
	var s spec.Stream
	for _, f := range flights {
		t := f.Receiver()
		if t == nil || t.Agent.Rev.InputRequired || only != nil && only != t.Client {
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
	case only == nil || s == nil || u.Abandoned.ByOthers(only.Session):
		r.refuseUnattributed(u, q)
	case session.MayAsk(only.PeerOf(wire.Meta{}), q):
		u.Pin(only.Session)
		r.Reverse.PassOn(only, s, u, q)
	}
}

// onlyClient is the client with a handshake that u serves, if there is just one
// and it can be reached; nil: there is not.
func (r *Router) onlyClient(u *pool.Server) (only *session.Client) {
	for _, c := range r.Sessions.Clients() {
		if !u.Serves(c) {
			continue
		}
		if !c.Ready() {
			continue
		}
		if push, ok := c.Out.(*events.Push); only != nil || ok && !push.Listening() {
			return nil
		}
		only = c
	}
	return only
}
