package proxy

import "github.com/petrigate/petrigate/proxy/internal/approval"

// Channels by which people answer.
const (
	viaElicit = "elicit" // the client asks
	viaCLI    = "cli"    // an operator's terminal
)

// elicits reports whether r may be put before the client's person.
func (p *Proxy) elicits(r *approval.Question) bool {
	return p.options.Approval.Elicit && r.Allows(viaElicit)
}

// operated reports whether r may be answered at an operator's terminal.
func (p *Proxy) operated(r *approval.Question) bool {
	return p.options.Approval.Operator && r.Allows(viaCLI)
}
