package check

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// ruleName returns a tool's name as written in rules. A literal name that contains a dot is quoted,
// because it would otherwise denote an action of a tool.
func ruleName(t gate.Tool) string {
	if t.Kind == gate.Literal && strings.Contains(t.Name, ".") {
		return `"` + t.Name + `"`
	}
	return t.Name
}

// toolText returns a tool's name as written in rules, escaped for output.
func toolText(t gate.Tool) string { return text.Escape(ruleName(t)) }

// nameText returns the name of n's tool as written in rules, escaped for output.
func nameText(n verify.Name) string { return toolText(n.Tool) }

// listed returns the names that a net lists, as written in rules.
func listed(net gate.NetInfo) []string {
	listed := list.FlatMap(net.Transitions, func(t gate.Transition) []string { return list.Map(t.Tools, ruleName) })
	allowed := list.FlatMap(net.Phases, func(p gate.Phase) []string { return list.Map(p.Tools, ruleName) })
	return slices.Concat(listed, net.Free, allowed)
}

// Lists reports whether transition t lists a tool with the given name.
func Lists(t gate.Transition, name string) bool {
	return slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Name == name })
}

// NamesIn returns the names that the policy's nets and claims mention.
func NamesIn(result *policy.Result) []string {
	names := list.Map(list.FlatMap(result.Policy.Nets(), listed), func(name string) string { return strings.Trim(name, `"`) })
	for _, c := range result.Claims {
		names = append(names, c.Tool.Name, c.First.Name)
	}
	return names
}
