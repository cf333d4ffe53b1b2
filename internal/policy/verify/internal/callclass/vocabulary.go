package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// vocabulary is the tools and the actions that calls can have, and how a policy
// names them.
type vocabulary struct {
	nets     []*Net
	naming   *naming
	maps     []*mapping          // of the policy, then of nets
	extra    []gate.Tool         // names that assertions speak of
	tools    []string            // physical names
	isTool   map[string]bool     // these, and the further names that known tools have
	known    map[string]bool     // names of tools that are known
	supposed map[string]bool     // tools of which nobody knows whether they are there
	complete bool                // there are no tools but those that are known and those that something names
	action   map[string][]string // of a tool: actions that rules name
	joint    map[string]bool     // tool.action that several others together stand for
	listed   map[string]bool     // names that a net or an assertion speaks of
	tries    int                 // of making up names
	only     map[glob]bool       // patterns that names are made up for; nil: all
	clock    *clock
}

func (b *vocabulary) tool(name string) {
	if !b.isTool[name] {
		b.isTool[name] = true
		b.tools = append(b.tools, name)
	}
}

// reads notes the tool that the map reads; of a pattern, names are made up.
func (b *vocabulary) reads(m *mapping) {
	if !m.Glob {
		b.tool(m.Tool)
	}
}

// collectNames collects the tools and the actions that the policy speaks of.
func (b *vocabulary) collectNames() {
	made := make(map[string]bool)
	for _, m := range b.naming.maps {
		made[m.As] = true
		b.reads(m)
	}
	var dotted []string
	name := func(t gate.Tool, made map[string]bool, rules bool) {
		b.listed[t.Name] = true
		action := t.Kind == gate.Plain && rules && strings.Contains(strings.TrimPrefix(t.Name, "."), ".")
		switch {
		case t.Kind == gate.Glob || made[t.Name] && !action:
		case action:
			dotted = append(dotted, t.Name)
		default:
			b.tool(t.Name)
		}
	}
	for _, n := range b.nets {
		names := made
		if n.Info.Labels == nil {
			names = make(map[string]bool)
			for _, m := range n.maps {
				names[m.As] = true
				b.reads(m)
			}
		}
		for _, t := range n.Info.Transitions {
			for _, tool := range slices.Concat(t.Tools, t.Unless) {
				name(tool, names, n.Info.Labels != nil)
			}
		}
		for _, phase := range n.Info.Phases {
			for _, tool := range phase.Tools {
				name(tool, names, n.Info.Labels != nil)
			}
		}
		for _, f := range n.Info.Free {
			name(gate.Tool{Name: f}, names, n.Info.Labels != nil)
		}
	}
	all := make(map[string]bool)
	for _, m := range b.maps {
		all[m.As] = true
	}
	for _, t := range b.extra {
		name(t, all, true)
	}
	for _, d := range dotted {
		b.dotted(d)
	}
	if !b.complete {
		b.suppose(dotted)
	}
}

// suppose adds tools that are called as what else than a tool the policy speaks
// of: an action, or what a map makes of a call.
func (b *vocabulary) suppose(names []string) {
	for _, m := range b.maps {
		if b.listed[m.As] {
			names = append(names, m.As)
		}
	}
	for _, name := range names {
		if !b.isTool[name] {
			b.supposed[name] = true
			b.tool(name)
		}
	}
}

// dotted takes a name for the action of each tool that is known, and of what
// stands before the first dot if nobody knows the tools.
func (b *vocabulary) dotted(name string) {
	if listed := b.actionsNamed(name); listed || b.known[name] {
		return // or a known tool is called so
	}
	first := 1 + strings.IndexByte(name[1:], '.')
	b.tool(name[:first])
	b.actionsNamed(name)
}

// actionsNamed takes a name for the action of each tool of which it can be one.
// It reports whether one of them is listed.
func (b *vocabulary) actionsNamed(name string) (listed bool) {
	for i := 1; i < len(name); i++ {
		base, action := name[:i], name[i+1:]
		if name[i] != '.' || !b.isTool[base] {
			continue
		}
		listed = listed || b.known[base]
		b.action[base] = include(b.action[base], action)
	}
	return listed
}
