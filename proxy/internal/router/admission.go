package router

import (
	"context"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// BeginSession opens the state of a session. Where that fails its calls are refused.
func (r *Router) BeginSession(s *session.Session) {
	if err := r.Admission.Open(r.Life.Ctx, s.Key(), s.Since); err != nil {
		r.Life.Log.Error("beginning a session", "session", s.ID, "error", err)
	}
}

// endSession forgets the state of a session, once none of its calls is open.
func (r *Router) endSession(s *session.Session) {
	if err := r.Admission.End(context.Background(), s.Key()); err != nil {
		r.Life.Log.Error("ending a session", "session", s.ID, "error", err)
	}
}
