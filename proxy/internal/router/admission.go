package router

import (
	"context"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// BeginSession opens the state of a session. Where that fails its calls are refused.
func (p *Router) BeginSession(s *session.Session) {
	if err := p.Admission.Open(p.Life.Ctx, s.Key(), s.Since); err != nil {
		p.Life.Log.Error("beginning a session", "session", s.ID, "error", err)
	}
}

// endSession forgets the state of a session, once none of its calls is open.
func (p *Router) endSession(s *session.Session) {
	if err := p.Admission.End(context.Background(), s.Key()); err != nil {
		p.Life.Log.Error("ending a session", "session", s.ID, "error", err)
	}
}
