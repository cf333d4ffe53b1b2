package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// A vocabulary holds the names that calls can have: tools and their actions, and the labels that a
// policy's maps give to calls.
type vocabulary struct {
	nets     []*Net
	naming   *policyNaming
	maps     []*mapping              // maps of the policy, followed by those of the nets
	extra    []gate.Tool             // names that assertions use
	tools    []string                // names of tools, without aliases
	isTool   map[string]bool         // names and aliases of tools
	known    map[string]bool         // names of known tools
	supposed map[string]bool         // tools that might not exist
	complete bool                    // whether no tools exist except the known tools and the tools named by the policy or an assertion
	action   map[string][]string     // actions named in rules, by tool
	joint    map[string]bool         // for each synthesized name of the form tool.action, whether it represents several other names
	listed   map[string]bool         // names that a net or an assertion uses
	tries    int                     // maximum number of names to synthesize
	only     map[naming.Pattern]bool // patterns to synthesize names for; nil means all
	clock    *clock
}

func (b *vocabulary) tool(name string) {
	if !b.isTool[name] {
		b.isTool[name] = true
		b.tools = append(b.tools, name)
	}
}

// addMapTool adds the tool that map m applies to. If m applies to a pattern instead of a tool, it
// adds nothing, because names for patterns are synthesized later.
func (b *vocabulary) addMapTool(m *mapping) {
	if !m.Glob {
		b.tool(m.Tool)
	}
}

// collectNames collects the tools and actions that the policy names.
func (b *vocabulary) collectNames() {
	made := make(map[string]bool)
	for _, m := range b.naming.maps {
		made[m.As] = true
		b.addMapTool(m)
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
				b.addMapTool(m)
			}
		}
		listed := list.FlatMap(n.Info.Transitions, func(t gate.Transition) []gate.Tool { return slices.Concat(t.Tools, t.Unless) })
		allowed := list.FlatMap(n.Info.Phases, func(p gate.Phase) []gate.Tool { return p.Tools })
		for _, tool := range slices.Concat(listed, allowed, gate.Tools(n.Info.Free...)) {
			name(tool, names, n.Info.Labels != nil)
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
		b.addDotted(d)
	}
	if !b.complete {
		b.suppose(dotted)
	}
}

// suppose adds tools that might exist. Their names are the given names, which the policy uses for
// actions, and the labels that nets or assertions use.
func (b *vocabulary) suppose(names []string) {
	listed := list.Filter(b.maps, func(m *mapping) bool { return b.listed[m.As] })
	names = append(names, list.Map(listed, func(m *mapping) string { return m.As })...)
	for _, name := range names {
		if !b.isTool[name] {
			b.supposed[name] = true
			b.tool(name)
		}
	}
}

// addDotted adds name, which has the form tool.action, as an action of each tool that it can belong
// to. If it belongs to no known tool and is not a known tool itself, addDotted also adds the part
// before the first dot as a tool with this action.
func (b *vocabulary) addDotted(name string) {
	if listed := b.addAction(name); listed || b.known[name] {
		return // the name may also be the name of a known tool
	}
	first := 1 + strings.IndexByte(name[1:], '.')
	b.tool(name[:first])
	b.addAction(name)
}

// addAction adds name, which has the form tool.action, as an action of each tool that it can belong
// to. It reports whether any of these tools is known.
func (b *vocabulary) addAction(name string) (listed bool) {
	for i := 1; i < len(name); i++ {
		base, action := name[:i], name[i+1:]
		if name[i] != '.' || !b.isTool[base] {
			continue
		}
		listed = listed || b.known[base]
		b.action[base] = list.Add(b.action[base], action)
	}
	return listed
}
