package proxy

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// A PolicyNet is one net of the policy that a proxy enforces.
type PolicyNet struct {
	Name   string `json:"name"`
	Rule   string `json:"rule,omitempty"`
	Active bool   `json:"active"`
	Shadow bool   `json:"shadow"`
	Scope  string `json:"scope"` // session, principal or global
}

// Nets lists the nets of the policy, in order.
func (p *Proxy) Nets() []PolicyNet {
	g := p.admission.Generation()
	list := []PolicyNet{}
	for _, n := range g.Policy.Nets() {
		list = append(list, PolicyNet{Name: n.Name, Rule: p.where(n.Rule), Shadow: n.Shadow, Scope: scopeName(n.Scope), Active: g.IsActive(n.Name)})
	}
	return list
}

func scopeName(s gate.Scope) string {
	switch s {
	case gate.ScopePrincipal:
		return "principal"
	case gate.ScopeGlobal:
		return "global"
	default:
		return "session"
	}
}

// SwitchNet activates or deactivates a net in all sessions, those that begin
// later too. The state of a net that is off is kept: switched on again, it goes
// on from where it was. What cannot be put on record is not done.
func (p *Proxy) SwitchNet(name string, on bool, actor string) error {
	if err := p.admission.SwitchNet(p.life.Ctx, name, on, actor); err != nil {
		return err
	}
	p.advertiser.TouchAll()
	if p.pool.Catalogue.Relist() {
		p.relay.Announce(spec.ListChanged)
	}
	return nil
}
