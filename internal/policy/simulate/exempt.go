package simulate

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// An exemption is a rule that lists a call, with the name that exempts the call from it.
type exemption struct {
	rule gate.Position
	net  string
	name string
}

// exemptions returns the exemption that makes a net abstain although it lists the call.
func (e *Explanation) exemptions(v gate.Verdict) []exemption {
	for _, t := range e.of.net(v.Net).Transitions {
		lists := slices.ContainsFunc(e.names, func(n gate.Name) bool { return names(t.Tools, n.Text) })
		spared := slices.IndexFunc(e.names, func(n gate.Name) bool { return n.Certain && names(t.Unless, n.Text) })
		if lists && spared >= 0 {
			return []exemption{{v.Rule, v.Net, e.names[spared].Text}}
		}
	}
	return nil
}

// names reports whether one of the tools is, or matches, the name.
func names(tools []gate.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t gate.Tool) bool {
		return t.Name == name || t.Kind == gate.Glob && toolnet.MatchGlob(t.Name, name)
	})
}
