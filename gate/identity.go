package gate

import "github.com/petrigate/petrigate/gate/internal/argument"

// Ignored returns the arguments of the call that are not part of its identity, see
// [PolicyOptions.Ignored]; nil: all arguments are.
func (p *Policy) Ignored(c *Call) []string {
	return p.ignored.of(c)
}

// Row returns a text that is equal exactly for equal calls; empty if no net counts rows.
func (p *Policy) Row(c *Call) string {
	if !p.rows {
		return ""
	}
	return argument.Fingerprint(c, p.Ignored(c))
}
