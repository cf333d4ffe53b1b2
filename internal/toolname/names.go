// Package toolname converts between the names that servers, clients and rules use for a tool,
// decides which server a name belongs to, and filters the tools that clients can use.
package toolname

import "github.com/petrigate/petrigate/gate"

// Names holds the names of one tool. Bare and Canonical are empty if unknown.
type Names struct {
	Upstream  string // server that provides the tool
	Exposed   string // name that clients see
	Bare      string // server's own name for the tool
	Canonical string // name in rules, in the form server.tool
}

// AdditionalNames returns the names that each tool has besides its exposed name. These are the bare
// name, which the server itself uses, and the canonical name, in the form server.tool. Empty names
// are left out. So is a bare name that equals the tool's exposed name, unless it is weak.
//
// A name is weak if it also belongs to another tool or could belong to another upstream. If there
// are several upstreams, all bare names are weak. If one tool's bare name is another tool's exposed
// or canonical name, only the bare name becomes weak.
//
// A weak name can only restrict a call. If a rule makes an exception for a weak name, the exception
// does not apply to the call. If a rule requires a call with a weak name, the call does not meet
// the requirement. Otherwise, a server could pass off its own tools as those of another server.
func AdditionalNames(tools []Names, owners Owners) [][]gate.Name {
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
			foreign := canonical[t.Canonical] > 1 || len(owners) > 1 && (owners.Canonical(t.Canonical) != t.Upstream || owners.isUpstream(t.Canonical))
			names = append(names, gate.Name{Text: t.Canonical, Certain: !foreign, Weak: foreign})
		}
		all = append(all, names)
	}
	return all
}

// Foreign reports whether the tool's exposed name could also belong to another upstream.
func (o Owners) Foreign(t Names) bool {
	return len(o) > 1 && (t.Upstream == "" || o.Exposed(t.Exposed) != t.Upstream || t.Exposed != t.Upstream && o.isUpstream(t.Exposed))
}
