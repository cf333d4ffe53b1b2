// Package agenttool describes AI agents: their built-in tools, under the names that their hooks
// report, and the configuration of these hooks.
package agenttool

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// Asides returns the arguments of an agent's built-in tool that do not change the effect of a call.
func Asides(agent, tool string) []string {
	a := named(agent)
	return slices.Concat(a.Asides[tool], a.Asides["*"])
}

// TellsEnds reports whether the agent's events contain the outcome of a script.
func TellsEnds(agent string) bool { return !named(agent).Silent }

// KindOf returns the kind of the event with the given name that the agent reports to its hooks. It
// returns [Ignored] if the agent or the event is unknown.
func KindOf(agent, event string) EventKind {
	if e := list.Find(named(agent).Hooks.Events, func(e HookEvent) bool { return e.Name == event }); e != nil {
		return e.Kind
	}
	return Ignored
}

// TakesScript reports whether the agent runs a script returned by its hook in place of the original
// one.
func TakesScript(agent string) bool { return named(agent).TakesScript }

// Shells returns the agent's tools that run scripts.
func Shells(agent string) []string { return slices.Clone(named(agent).Shells) }

// beside lists tools that run scripts but are not in Shells. Rules for bash can restrict calls to
// these tools, but cannot count them toward requirements.
var beside = []string{"Monitor", "PowerShell", "send_to_terminal"}

func mayRun(tool string) bool { return slices.Contains(beside, tool) }

// Agents returns the names of all known agents, sorted.
func Agents() []string {
	names := list.Map(agents, func(a Agent) string { return a.Name })
	slices.Sort(names)
	return names
}

// Of returns the names of the agent's built-in tools, in the agent's own spelling.
func Of(agent string) []string { return slices.Clone(named(agent).Tools) }

// Spelt returns the name of an agent's built-in tool in the agent's own spelling, or "" if the
// agent has no such tool. Only the name Bash matches regardless of letter case.
func Spelt(agent, name string) string {
	for _, tool := range named(agent).Tools {
		if name == tool || tool == "Bash" && strings.EqualFold(name, tool) {
			return tool
		}
	}
	return ""
}

// Qualified returns the name of a built-in tool, preceded by the name of the first agent that has
// the tool, for example claude-code.Bash. It returns "" if no agent has the tool, or if the tool's
// own name is in lower case, because such a name may also belong to an MCP tool.
func Qualified(name string) string {
	for _, agent := range Agents() {
		if tool := Spelt(agent, name); tool != strings.ToLower(tool) {
			return agent + "." + tool
		}
	}
	return ""
}

// Names returns all names that rules can use for agents' built-in tools. For example, the tool Read
// can also be named read or claude-code.Read. The name bash stands for all tools that run scripts.
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

// A Name is a name that rules can use for a call to an agent's tool, besides the tool's own name.
type Name struct {
	Text string
	Sure bool // whether rules for this name can count the call toward a requirement; otherwise, they can only restrict the call
}

// Further returns the names that rules can use for a call to an agent's tool, in addition to the
// tool's own name. If the tool belongs to an MCP server, members contains the possible pairs of
// server name and tool name. If command is true, the call has an argument named "command".
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
	} else if mayRun(tool) || !known && command {
		add("bash", false)
	}
	for _, m := range members { // the call might bypass the proxy, so the hook must apply the rules for the MCP tool
		add(m[1], false)
		if m[0] != "" {
			add(m[0]+"."+m[1], false)
		}
	}
	return all
}

// Members returns the ways to split the agent's name for an MCP tool into a server name and a tool
// name. There is more than one way if either name contains the agent's separator.
func Members(agent, tool string) [][2]string {
	all := Parts(tool)
	rest, ok := strings.CutPrefix(tool, "mcp_")
	switch {
	case ok && named(agent).ShortPrefix:
		all = append(all, cuts(rest, "_")...)
	case agent == "vscode":
		all = append(all, cuts(tool, "-")...) // Copilot CLI uses this format
	}
	return all
}

// Parts returns the ways to split the name of an MCP tool into server and tool, considering the
// formats of all agents.
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

// cuts returns all ways to split name in two at the given separator. The second part must not be
// empty.
func cuts(name, sign string) (all [][2]string) {
	for i := range len(name) - len(sign) {
		if strings.HasPrefix(name[i:], sign) {
			all = append(all, [2]string{name[:i], name[i+len(sign):]})
		}
	}
	return all
}

// Member returns the agent's name for a tool of an MCP server.
func Member(agent, server, tool string) string {
	if named(agent).ShortPrefix {
		return "mcp_" + server + "_" + tool
	}
	return "mcp__" + server + "__" + tool
}
