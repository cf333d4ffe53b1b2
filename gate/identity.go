package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/argument"
)

// Ignored returns the arguments of the call that are not part of its identity, see
// [PolicyOptions.Ignored]; nil: all arguments are.
func (p *Policy) Ignored(c *Call) []string {
	if len(p.ignored) == 0 {
		return nil
	}
	var fields []string
	if !c.Foreign {
		fields = slices.Concat(fields, p.ignored[c.Tool])
	}
	for _, n := range c.Also {
		if n.Certain {
			fields = slices.Concat(fields, p.ignored[n.Text])
		}
	}
	return fields
}

// Row returns a text that is equal exactly for equal calls; empty if no net counts rows.
func (p *Policy) Row(c *Call) string {
	if !p.rows {
		return ""
	}
	return argument.Fingerprint(c, p.Ignored(c))
}

// setIgnored stores the arguments that are not part of the identity of calls.
func (p *Policy) setIgnored(all []Ignored) {
	p.givenIgnored = slices.Clone(all)
	p.ignored = make(map[string][]string, len(all))
	for _, i := range all {
		p.ignored[i.Tool] = append(p.ignored[i.Tool], i.Field)
	}
}

// fingerprintIgnored returns the ignored arguments that are part of the fingerprint.
func (p *Policy) fingerprintIgnored() []Ignored {
	return slices.DeleteFunc(slices.Clone(p.givenIgnored), func(i Ignored) bool { return i.Usual })
}
