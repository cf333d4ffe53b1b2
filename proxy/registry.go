package proxy

import (
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
)

// A registry makes the sessions of the gate, and says which nets take part in
// their decisions. What sessions share is kept as long as the proxy runs.
type registry struct {
	policy *gate.Policy

	mu         sync.Mutex
	active     []string // names of nets; nil: all
	principals map[string]*gate.Shared
	global     *gate.Shared
}

func newRegistry(p *gate.Policy, active []string) *registry {
	return &registry{policy: p, active: active, principals: map[string]*gate.Shared{}}
}

// session makes a session of the principal. Switching a net goes through the
// same lock, so that no session begins with what was switched meanwhile;
// keep stores it before another switch.
func (r *registry) session(principal string, o gate.SessionOptions, keep func(*gate.Session)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shared := gate.SharedOptions{Active: r.active, Time: o.Time}
	if r.global == nil {
		r.global = gate.NewShared(r.policy, gate.ScopeGlobal, shared)
	}
	if r.principals[principal] == nil {
		r.principals[principal] = gate.NewShared(r.policy, gate.ScopePrincipal, shared)
	}
	o.Active, o.Principal, o.Global = r.active, r.principals[principal], r.global
	s := gate.NewSession(r.policy, o)
	r.align(s)
	keep(s)
}

// fresh is a session that takes part in nothing: at its start, with what
// sessions share as it stands. What one principal shares is that of the only one.
func (r *registry) fresh() *gate.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := gate.SessionOptions{Active: r.active, Global: r.global}
	if len(r.principals) == 1 {
		for _, shared := range r.principals {
			o.Principal = shared
		}
	}
	return gate.NewSession(r.policy, o)
}

// names are the nets that are active; nil: all.
func (r *registry) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.active
}

// align switches the nets that the session shares: what they are was settled
// when the first session began.
func (r *registry) align(s *gate.Session) {
	for _, n := range r.policy.Nets() {
		if n.Scope != gate.ScopeSession {
			toggle(s, n.Name, r.active == nil || slices.Contains(r.active, n.Name))
		}
	}
}

// toggle switches a net of the policy; that it is so already is no error.
func toggle(s *gate.Session, net string, on bool) {
	if on {
		_ = s.Activate(net)
	} else {
		_ = s.Deactivate(net)
	}
}

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
	active := p.registry.names()
	list := []PolicyNet{}
	for _, n := range p.options.Policy.Nets() {
		list = append(list, PolicyNet{
			Name: n.Name, Rule: p.where(n.Rule), Shadow: n.Shadow, Scope: scopeName(n.Scope),
			Active: active == nil || slices.Contains(active, n.Name),
		})
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
	if err := p.switchNet(name, on, actor); err != nil {
		return err
	}
	p.advisor.touchAll()
	if p.catalogue.relist() {
		p.announce(listChanged)
	}
	return nil
}

func (p *Proxy) switchNet(name string, on bool, actor string) error {
	r := p.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	active, err := r.policy.Switch(r.active, name, on)
	if err != nil {
		return err
	}
	if err := p.recordSwitch(name, on, actor); err != nil {
		return err
	}
	r.active = active
	p.switchSessions(name, on)
	return nil
}

// switchSessions switches the net where it is not switched yet: one that is
// shared is switched for all with the first session.
func (p *Proxy) switchSessions(name string, on bool) {
	for _, s := range p.sessions.all() {
		toggle(s.gate, name, on)
	}
}

func (p *Proxy) recordSwitch(name string, on bool, actor string) error {
	event := "deactivate"
	if on {
		event = "activate"
	}
	p.log.Warn("operator", "event", event, "net", name, "actor", actor)
	return p.recorder.Write(audit.Switch{Time: p.options.Now(), Event: event, Net: name, Actor: actor})
}
