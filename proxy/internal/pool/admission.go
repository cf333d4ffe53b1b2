package pool

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// Snapshot is the state of the session as it is now, with the tools that can be
// called.
func (p *Pool) Snapshot(s *session.Session) (*gate.State, error) {
	state, err := p.Admission.Snapshot(p.Life.Ctx, s.Key())
	if err != nil {
		return nil, err
	}
	state.Tools = p.Catalogue.Load().Calls
	return state, nil
}
