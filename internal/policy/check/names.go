package check

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// ruleName returns a tool's name as rules write it: quoted if it contains a dot and does not denote
// an action.
func ruleName(t gate.Tool) string {
	if t.Kind == gate.Literal && strings.Contains(t.Name, ".") {
		return `"` + t.Name + `"`
	}
	return t.Name
}

func ruleNames(names []verify.Name) string { return text.And(toolNames(names)) }

// toolNames returns the names of the tools as rules write them.
func toolNames(names []verify.Name) []string {
	var all []string
	for _, n := range names {
		all = append(all, text.Escape(ruleName(n.Tool)))
	}
	return all
}

// listed returns the names that a net lists, as rules write them.
func listed(net gate.NetInfo) []string {
	var names []string
	for _, t := range net.Transitions {
		for _, tool := range t.Tools {
			names = append(names, ruleName(tool))
		}
	}
	names = append(names, net.Free...)
	for _, ph := range net.Phases {
		for _, tool := range ph.Tools {
			names = append(names, ruleName(tool))
		}
	}
	return names
}

// Lists reports whether transition t lists a tool with the given name.
func Lists(t gate.Transition, name string) bool {
	return slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Name == name })
}

// NamesIn returns the names that the policy's nets and claims mention.
func NamesIn(result *policy.Result) []string {
	var names []string
	for _, net := range result.Policy.Nets() {
		for _, name := range listed(net) {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	for _, c := range result.Claims {
		names = append(names, c.Tool.Name, c.First.Name)
	}
	return names
}
