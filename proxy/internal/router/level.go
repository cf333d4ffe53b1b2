package router

import (
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// logged passes on a log message of u that says of no request that it belongs
// to it: to the clients with a handshake that want its level, and to the client
// of 2026-07-28 whose calls u has, if only one session has any. Over stdio no
// message says more.
func (r *Router) relayLog(u *pool.Server, params []byte) {
	const method = "notifications/message"
	level := spec.LogLevels[spec.Member(params, "level")]
	for _, c := range r.Sessions.Clients() {
		wanted := c.Ready() && level >= spec.LogLevels[c.LogLevel()]
		if wanted && c.Out != nil && u.Serves(c) {
			c.Out.Send(wire.AppendNotification(nil, method, params))
		}
	}
	if t := logsFor(u, params); t != nil {
		t.Tell(wire.AppendNotification(nil, method, params))
	}
}

// logsFor is the call of 2026-07-28 that a log message is for; nil: there is
// none, or it cannot be told.
func logsFor(u *pool.Server, params []byte) (wants *pipeline.Call) {
	var only *session.Session
	for _, f := range pipeline.FlightsTo(u) {
		t := f.Receiver()
		switch {
		case t == nil || only != nil && only != t.Client.Session:
			return nil
		case t.Agent.Rev.LevelInMeta && t.Client.TakesLog(t.Agent, t.Meta, params):
			wants = t
		}
		only = t.Client.Session
	}
	return wants
}
