package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// lookupTimeout is the timeout of database queries for an operator.
const lookupTimeout = 10 * time.Second

// find returns a session of this process or, with its description from the database, a session of
// another process.
func (p *sessionView) find(id string) (*session.Session, *admission.SessionInfo, error) {
	s, unknown := p.sessions.Find(id)
	if unknown == nil {
		return s, nil, nil
	}
	if p.durable == nil {
		return nil, nil, unknown
	}
	ctx, cancel := context.WithTimeout(p.life.Ctx, lookupTimeout)
	defer cancel()
	info, err := p.admission.Find(ctx, id)
	switch {
	case errors.Is(err, admission.ErrNoSession):
		return nil, nil, unknown
	case err != nil:
		return nil, nil, fmt.Errorf("looking for session %q: %w", id, err)
	}
	return remoteSession(info), &info, nil
}

// localSession returns the session if this process has it, and otherwise nil.
func (p *sessionView) localSession(id string) *session.Session {
	s, err := p.sessions.Find(id)
	if err != nil {
		return nil
	}
	return s
}

// remoteSession returns a session that this process does not serve.
func remoteSession(info admission.SessionInfo) *session.Session {
	a := session.ReadAbout(info.About)
	by := a.By
	if by == "" {
		by = "connection"
	}
	return &session.Session{ID: info.Session, Principal: info.Principal, By: by, Label: a.Label, Since: info.Since}
}
