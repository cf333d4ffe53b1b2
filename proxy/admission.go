package proxy

import (
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store"
	"github.com/petrigate/petrigate/proxy/internal/relay"
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
	g.Advertise, g.PromptsByList = o.Advertise, relay.NamesPrompts(o.Policy)
	g.Remedy, g.Impossible = o.Remedy, o.Impossible
	return g
}
