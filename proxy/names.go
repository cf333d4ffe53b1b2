package proxy

import "github.com/petrigate/petrigate/gate"

// Names are the tools that clients can call now, each as a call without
// arguments that carries all its names, in the order of the list.
func (p *Proxy) Names() []gate.Call {
	tools := p.catalogue.load().order
	calls := make([]gate.Call, len(tools))
	for i, t := range tools {
		calls[i] = gate.Call{Tool: t.exposed, Also: t.also, Upstream: t.upstream.config.Name, Annotations: t.annotates}
	}
	return calls
}
