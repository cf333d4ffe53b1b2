package proxy

import (
	"context"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store"
)

// newAdmission is the admission of calls under the policy of the options.
func (p *Proxy) newAdmission() *admission.Admission {
	o := p.options
	return admission.New(admission.Options{
		Ledger:     store.NewMemory(o.Policy, o.Active, p.approvals, audit.NewRecorder(o.Recorder, o.Now)),
		Generation: o.generation(),
		Where:      p.where,
		Logger:     o.Logger,
		Now:        o.Now,
	})
}

// generation is the policy of the options with all that follows from it.
func (o Options) generation() *admission.Generation {
	g := admission.NewGeneration(o.Policy, o.Active)
	g.Advertise, g.PromptsByList = o.Advertise, namesPrompts(o.Policy)
	g.Remedy, g.Impossible = o.Remedy, o.Impossible
	return g
}

// key names the session to the admission.
func (s *session) key() admission.Key { return admission.Key{Session: s.id, Principal: s.principal} }

// snapshot is the state of the session as it is now, with the tools that can be
// called.
func (p *Proxy) snapshot(s *session) (*gate.State, error) {
	state, err := p.admission.Snapshot(p.ctx, s.key())
	if err != nil {
		return nil, err
	}
	state.Tools = p.catalogue.load().calls
	return state, nil
}

// beginSession opens the state of a session. Where that fails its calls are refused.
func (p *Proxy) beginSession(s *session) {
	if err := p.admission.Open(p.ctx, s.key(), s.since); err != nil {
		p.log.Error("beginning a session", "session", s.id, "error", err)
	}
}

// endSession forgets the state of a session, once none of its calls is open.
func (p *Proxy) endSession(s *session) {
	if err := p.admission.End(context.Background(), s.key()); err != nil {
		p.log.Error("ending a session", "session", s.id, "error", err)
	}
}
