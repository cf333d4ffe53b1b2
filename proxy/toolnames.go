package proxy

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// ToolNames are what one tool is called. Bare and Canonical may be unknown.
type ToolNames struct {
	Exposed   string // by clients
	Bare      string // by its server
	Canonical string // by rules that name the server: server.tool
}

// FurtherNames are, of each of the tools, the names that a call of it carries
// besides the exposed one. A name that is also that of another tool restricts
// and is evidence for none of them, or else a server could pass its own tools
// off as those of another. Of two kinds of names the one that says more stays
// with its tool: the exposed before the canonical, that before the bare.
func FurtherNames(tools []ToolNames) [][]gate.Name {
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
		var names []gate.Name
		if t.Bare != "" && (t.Bare != t.Exposed || others > 0) {
			names = append(names, gate.Name{Text: t.Bare, Certain: true, Weak: others > 0})
		}
		if t.Canonical != "" {
			names = append(names, gate.Name{Text: t.Canonical, Certain: true, Weak: canonical[t.Canonical] > 1})
		}
		all = append(all, names)
	}
	return all
}

// named gives the tools their further names, and those of the others that an
// action could read like. Of servers that nobody has listed yet, any name that
// could be one of theirs counts as such.
func named(tools []*tool, unlisted []*upstreamState) {
	all := make([]ToolNames, 0, len(tools))
	others := map[string]bool{}
	for _, t := range tools {
		all = append(all, ToolNames{Exposed: t.exposed, Bare: t.name, Canonical: t.canonical})
		others[t.canonical] = true
		if strings.Contains(t.name, ".") {
			others[t.name] = true
		}
	}
	for i, names := range FurtherNames(all) {
		tools[i].also, tools[i].others = names, others
		for k := range names {
			foreign := func(u *upstreamState) bool { return u != tools[i].upstream && u.mayMean(names[k].Text) }
			if names[k].Text != tools[i].canonical && slices.ContainsFunc(unlisted, foreign) {
				names[k].Weak = true
			}
		}
	}
}

// mayMean reports whether a name, or one with an action, could be that of a tool
// of u among others.
func (u *upstreamState) mayMean(name string) bool {
	return name == u.config.Name || strings.HasPrefix(name, u.config.Name+".") || strings.HasPrefix(name, u.config.prefix(false)) && u.config.prefix(false) != ""
}
