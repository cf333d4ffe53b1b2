package proxy

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// Names are the tools that clients can call now, each as a call without
// arguments that carries all its names, in the order of the list.
func (p *Proxy) Names() []gate.Call { return slices.Clone(p.catalogue.load().calls) }
