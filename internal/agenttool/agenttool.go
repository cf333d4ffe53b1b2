// Package agenttool lists the built-in tools of AI agents, under the names that the hooks of the
// agents report.
package agenttool

import (
	"slices"
	"strings"
)

// Asides returns the arguments of an agent's built-in tool that do not change its effect.
func Asides(agent, tool string) []string {
	a := named(agent)
	return slices.Concat(a.Asides[tool], a.Asides["*"])
}

// TellsEnds reports whether the hooks of an agent report the end of a script.
func TellsEnds(agent string) bool { return !named(agent).Silent }

// TakesScript reports whether the agent runs the script in the answer of its hook instead of the
// original one.
func TakesScript(agent string) bool { return named(agent).TakesScript }

// Shells returns the tools of an agent that run scripts.
func Shells(agent string) []string { return slices.Clone(named(agent).Shells) }

// beside are further tools that run scripts, but whose end is not reported or whose scripts are for
// another shell.
var beside = []string{"Monitor", "PowerShell", "send_to_terminal"}

// MayRun reports whether a tool might run a script in its command argument. Restrictions on bash
// apply to such a tool, but its calls never count as evidence.
func MayRun(tool string) bool { return slices.Contains(beside, tool) }

// Agents returns the names of the known agents, sorted.
func Agents() (names []string) {
	for _, a := range agents {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// Of returns the built-in tools of an agent, under the agent's own names.
func Of(agent string) []string { return slices.Clone(named(agent).Tools) }

// Spelt returns the agent's own spelling of a built-in tool name, or "" if the agent has no such
// tool. Only bash is matched without regard to case.
func Spelt(agent, name string) string {
	for _, tool := range named(agent).Tools {
		if name == tool || tool == "Bash" && strings.EqualFold(name, tool) {
			return tool
		}
	}
	return ""
}

// Qualified returns the tool name preceded by the first agent that has such a tool, such as
// claude-code.Bash. It returns "" if the name does not clearly denote a built-in tool.
func Qualified(name string) string {
	for _, agent := range Agents() {
		if tool := Spelt(agent, name); tool != strings.ToLower(tool) {
			return agent + "." + tool
		}
	}
	return ""
}

// Names returns all names that rules can use for built-in tools of agents: the agent's own name,
// that name preceded by the agent, that name in lower case, and bash for tools that run scripts.
func Names() []string {
	all := []string{"bash"}
	for _, agent := range Agents() {
		for _, tool := range named(agent).Tools {
			all = append(all, tool, agent+"."+tool, strings.ToLower(tool))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A Name is an additional name of a call that an agent makes to a tool.
type Name struct {
	Text string
	Sure bool // false: the name can only restrict the call
}

// Further returns the names of a call of an agent's tool other than tool itself. members lists the
// possible splits of an MCP tool name into server and tool; command reports whether the call has an
// argument named command.
func Further(agent, tool string, members [][2]string, command bool) (all []Name) {
	add := func(name string, sure bool) {
		if name != tool && !slices.ContainsFunc(all, func(n Name) bool { return n.Text == name }) {
			all = append(all, Name{name, sure})
		}
	}
	add(agent+"."+tool, true)
	add(strings.ToLower(tool), true)
	known := slices.Contains(named(agent).Tools, tool) || len(members) > 0
	if slices.Contains(named(agent).Shells, tool) {
		add("bash", true)
	} else if MayRun(tool) || !known && command {
		add("bash", false)
	}
	for _, m := range members { // such a call bypasses the proxy, whose rules apply to it here as well
		add(m[1], false)
		if m[0] != "" {
			add(m[0]+"."+m[1], false)
		}
	}
	return all
}

// Members returns the possible splits of the name that an agent gives to an MCP tool into server
// and tool. There are several if a part contains the separator that the agent uses.
func Members(agent, tool string) [][2]string {
	all := Parts(tool)
	rest, ok := strings.CutPrefix(tool, "mcp_")
	switch {
	case ok && named(agent).ShortPrefix:
		all = append(all, cuts(rest, "_")...)
	case agent == "vscode":
		all = append(all, cuts(tool, "-")...) // the format of Copilot CLI
	}
	return all
}

// Parts returns the possible splits of an MCP tool name in the formats that all agents use.
func Parts(tool string) [][2]string {
	if rest, ok := strings.CutPrefix(tool, "MCP:"); ok {
		if all := cuts(rest, ":"); all != nil {
			return all
		}
		return [][2]string{{"", rest}}
	}
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return nil
	}
	return cuts(rest, "__")
}

// cuts returns the parts before and after each occurrence of sign that is not at the end of name.
func cuts(name, sign string) (all [][2]string) {
	for i := range len(name) - len(sign) {
		if strings.HasPrefix(name[i:], sign) {
			all = append(all, [2]string{name[:i], name[i+len(sign):]})
		}
	}
	return all
}

// Member returns the name that an agent gives to a tool of an MCP server.
func Member(agent, server, tool string) string {
	if named(agent).ShortPrefix {
		return "mcp_" + server + "_" + tool
	}
	return "mcp__" + server + "__" + tool
}
