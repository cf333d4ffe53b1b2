package proxy

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// ToolNames are what one tool is called. Bare and Canonical may be unknown.
type ToolNames struct {
	Upstream  string // that has it
	Exposed   string // by clients
	Bare      string // by its server
	Canonical string // by rules that name the server: server.tool
}

// An Owner is an upstream and the prefix of the names that clients see of it.
type Owner struct{ Upstream, Prefix string }

// Owners are all upstreams that are configured. They tell whose a name is, so
// that no server can change it by what it lists, now or later.
type Owners []Owner

// Exposed is the upstream whose prefix the name begins with, the longest one;
// empty if there is none, or several.
func (o Owners) Exposed(name string) string {
	longest, owner := -1, ""
	for _, u := range o {
		switch n := len(u.Prefix); {
		case n < longest || !strings.HasPrefix(name, u.Prefix):
		case n == longest:
			owner = ""
		default:
			longest, owner = n, u.Upstream
		}
	}
	return owner
}

// canonical is the upstream that the name begins with, the longest one.
func (o Owners) canonical(name string) (owner string) {
	for _, u := range o {
		if len(u.Upstream) > len(owner) && strings.HasPrefix(name, u.Upstream+".") {
			owner = u.Upstream
		}
	}
	return owner
}

// is reports whether the name is that of an upstream. With an action it then
// reads like a tool of it.
func (o Owners) is(name string) bool {
	for _, u := range o {
		if u.Upstream == name {
			return true
		}
	}
	return false
}

// Foreign reports whether the exposed name of the tool could also be one of
// another upstream.
func (o Owners) Foreign(t ToolNames) bool {
	return len(o) > 1 && (t.Upstream == "" || o.Exposed(t.Exposed) != t.Upstream || t.Exposed != t.Upstream && o.is(t.Exposed))
}

// FurtherNames are, of each of the tools, the names that a call of it carries
// besides the exposed one. A name that is also that of another tool, or could be one
// of another upstream, restricts: it neither exempts nor is evidence, or else a server
// could pass its own tools off as those of another. So with several upstreams a bare
// name only restricts, whatever they list. Of two kinds of names the one that says
// more stays with its tool: the exposed before the canonical, that before the bare.
func FurtherNames(tools []ToolNames, owners Owners) [][]gate.Name {
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
			foreign := canonical[t.Canonical] > 1 || len(owners) > 1 && (owners.canonical(t.Canonical) != t.Upstream || owners.is(t.Canonical))
			names = append(names, gate.Name{Text: t.Canonical, Certain: !foreign, Weak: foreign})
		}
		all = append(all, names)
	}
	return all
}

// named gives the tools their further names, and those of the others that an
// action could read like.
func named(tools []*tool, owners Owners) {
	all := make([]ToolNames, 0, len(tools))
	others := map[string]bool{}
	for _, t := range tools {
		all = append(all, ToolNames{Upstream: t.upstream.config.Name, Exposed: t.exposed, Bare: t.name, Canonical: t.canonical})
		others[t.canonical] = true
		if strings.Contains(t.name, ".") {
			others[t.name] = true
		}
	}
	for i, names := range FurtherNames(all, owners) {
		tools[i].also, tools[i].others, tools[i].foreign = names, others, owners.Foreign(all[i])
	}
}

// owners are the upstreams with the prefixes of their tools.
func (c *catalogue) owners() Owners {
	var owners Owners
	for _, u := range c.upstreams {
		owners = append(owners, Owner{Upstream: u.config.Name, Prefix: u.config.prefix(len(c.upstreams) == 1)})
	}
	return owners
}
