package router

import (
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// leave ends what a session had for itself.
func (r *Router) endDedicated(s *session.Session) {
	s.Ended.Store(true)
	for _, u := range r.Pool.Servers {
		if branch := u.Release(s); branch != nil {
			r.Pool.EndDedicated(branch)
		}
	}
}

// unattributed refuses a question of which it is not sure whose it is.
func (r *Router) refuseUnattributed(u *pool.Server, q *upstream.ServerRequest) {
	text := "it cannot be told which client this is for"
	switch u.Config.Isolation {
	case pool.IsolateShared:
		text += ": the clients share this server (isolation: shared)"
	case pool.IsolateSession:
		text = "there is no client here, but for lists (isolation: session)"
	default:
		text += "; sessions that begin now have a " + u.Config.Kind() + " of their own"
	}
	r.Life.Log.Warn("question of an upstream refused", "upstream", u.Config.Name, "method", q.Method, "reason", text)
	q.Refuse(spec.CodeInternal, text)
}
