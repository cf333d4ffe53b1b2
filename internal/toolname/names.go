// Package toolname says what tools are called: by their servers, by clients and by
// rules, which server a name belongs to, and which tools clients may use.
package toolname

import "github.com/petrigate/petrigate/gate"

// Names are the names of one tool. Bare and Canonical may be unknown.
type Names struct {
	Upstream  string // the server that has the tool
	Exposed   string // for clients
	Bare      string // for its server
	Canonical string // for rules that name the server: server.tool
}

// Further returns, for each of the tools, the names that a call of it carries
// besides the exposed one. A name that is also that of another tool, or could be
// one of another upstream, restricts: it neither exempts nor is evidence, or else
// a server could pass its own tools off as those of another. So with several
// upstreams a bare name only restricts, whatever they list. Of two kinds of names
// the more specific one stays with its tool: the exposed before the canonical, the
// canonical before the bare.
func Further(tools []Names, owners Owners) [][]gate.Name {
	exposed, canonical, bare := map[string]int{}, map[string]int{}, map[string]int{}
	for _, t := range tools {
		exposed[t.Exposed]++
		canonical[t.Canonical]++
		bare[t.Bare]++
	}
	all := make([][]gate.Name, 0, len(tools))
	for _, t := range tools {
		others := exposed[t.Bare] + canonical[t.Bare] + bare[t.Bare] - 1
		if t.Bare == t.Exposed {
			others--
		}
		shared := others > 0 || len(owners) > 1
		var names []gate.Name
		if t.Bare != "" && (t.Bare != t.Exposed || shared) {
			names = append(names, gate.Name{Text: t.Bare, Certain: !shared, Weak: shared})
		}
		if t.Canonical != "" {
			foreign := canonical[t.Canonical] > 1 || len(owners) > 1 && (owners.Canonical(t.Canonical) != t.Upstream || owners.is(t.Canonical))
			names = append(names, gate.Name{Text: t.Canonical, Certain: !foreign, Weak: foreign})
		}
		all = append(all, names)
	}
	return all
}
