// Package agenttool names the tools that agents have of their own, as their hooks tell of them.
package agenttool

import (
	"slices"
	"strings"
)

// tools are those of each agent, as far as they are known.
var tools = map[string][]string{
	"claude-code": {
		"Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "Edit", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillShell",
		"LS", "ListAgents", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "PushNotification", "Read", "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "Skill",
		"SlashCommand", "Task", "TaskCreate", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
	},
	"codex": {
		"Bash", "apply_patch", "create_goal", "exec_command", "get_goal", "request_user_input", "shell", "update_goal", "update_plan", "view_image", "web_search",
		"write_stdin",
	},
	"gemini-cli": {
		"activate_skill", "enter_plan_mode", "exit_plan_mode", "glob", "google_web_search", "grep_search", "invoke_agent", "list_background_processes", "list_directory",
		"read_background_output", "read_file", "read_many_files", "replace", "run_shell_command", "save_memory", "search_file_content", "update_topic", "web_fetch",
		"write_file", "write_todos",
	},
	"cursor": {
		"ApplyPatch", "Delete", "Edit", "EditNotebook", "Glob", "Grep", "LS", "Read", "Shell", "StrReplace", "TabWrite", "Task", "WebFetch", "WebSearch", "Write",
	},
	"vscode": {
		"Agent", "Bash", "Edit", "Glob", "Grep", "Read", "WebFetch", "WebSearch", "Write", "createFile", "editFiles", "fetch", "readFile", "runInTerminal", "runTerminalCommand", "run_in_terminal", "create_file", "replace_string_in_file",
		"insert_edit_into_file", "multi_replace_string_in_file", "apply_patch", "edit_notebook_file", "read_file", "fetch_webpage", "send_to_terminal",
	},
}

// shells are what the tools that run scripts are called; rules may name them bash as well.
var shells = map[string][]string{
	"claude-code": {"Bash"},
	"codex":       {"Bash", "shell", "exec_command"},
	"gemini-cli":  {"run_shell_command"},
	"cursor":      {"Shell"},
	"vscode":      {"Bash", "runTerminalCommand", "run_in_terminal", "runInTerminal"},
}

// asides are the arguments of agents' tools that describe or time a call and change nothing that it does. Models
// write them anew for each call. Arguments that move a call to the background or out of its sandbox are none.
var asides = map[string]map[string][]string{
	"claude-code": {
		"Bash": {"description", "timeout"}, "PowerShell": {"description", "timeout"}, "Monitor": {"description", "timeout_ms"},
		"Agent": {"description"}, "Task": {"description"},
	},
	"codex": {
		"Bash": {"justification", "timeout_ms", "yield_time_ms", "max_output_tokens"}, "shell": {"justification", "timeout_ms"},
		"exec_command": {"justification", "yield_time_ms", "max_output_tokens"}, "write_stdin": {"yield_time_ms", "max_output_tokens"},
	},
	"gemini-cli": {"run_shell_command": {"description", "delay_ms"}},
	"cursor":     {"Shell": {"description", "timeout", "block_until_ms"}, "Task": {"description"}},
	"vscode": {
		"Bash": {"description", "timeout", "initial_wait"}, "Agent": {"description"}, "run_in_terminal": {"explanation", "goal", "timeout"},
		"runInTerminal": {"explanation", "goal", "timeout"}, "runTerminalCommand": {"explanation", "goal", "timeout"},
		"insert_edit_into_file": {"explanation"}, "replace_string_in_file": {"explanation"}, "multi_replace_string_in_file": {"explanation"},
		"apply_patch": {"explanation"},
	},
}

// anyTool are the asides of all tools of an agent: Gemini CLI adds the order of calls to each.
var anyTool = map[string][]string{"gemini-cli": {"wait_for_previous"}}

// Asides returns the arguments of an agent's own tool that do not change its effect.
func Asides(agent, tool string) []string { return slices.Concat(asides[agent][tool], anyTool[agent]) }

// silent are the agents of which no event tells how a script ended.
var silent = []string{"codex", "vscode"}

// TellsEnds reports whether the hooks of an agent tell how a script ended.
func TellsEnds(agent string) bool { return !slices.Contains(silent, agent) }

// changing are the agents whose hooks can change the script of a call, which other agents ignore or take for a yes:
// Codex takes a change only together with "allow", and VS Code and Cursor were not tried.
var changing = []string{"claude-code", "gemini-cli"}

// TakesScript reports whether the agent runs a script from the answer of its hook.
func TakesScript(agent string) bool { return slices.Contains(changing, agent) }

// Shells returns the tools of an agent that run scripts.
func Shells(agent string) []string { return slices.Clone(shells[agent]) }

// beside are tools that run scripts too, but tell no end of them, or run those of another shell.
var beside = []string{"Monitor", "PowerShell", "send_to_terminal"}

// MayRun reports whether the tool of an agent may run a script in its field command, so that what
// restricts bash restricts it, and proves nothing.
func MayRun(tool string) bool { return slices.Contains(beside, tool) }

// Agents are the names of the agents, sorted.
func Agents() (names []string) {
	for agent := range tools {
		names = append(names, agent)
	}
	slices.Sort(names)
	return names
}

// Of returns the tools of an agent, as it calls them.
func Of(agent string) []string { return slices.Clone(tools[agent]) }

// Spelt returns the name that the agent gives to its tool of this name, which may be bash in any case; empty: it has none.
func Spelt(agent, name string) string {
	for _, tool := range tools[agent] {
		if name == tool || tool == "Bash" && strings.EqualFold(name, tool) {
			return tool
		}
	}
	return ""
}

// Qualified returns the name of a tool of an agent behind that of an agent that has it, such as
// claude-code.Bash; empty where the name is not plainly that of such a tool.
func Qualified(name string) string {
	for _, agent := range Agents() {
		if tool := Spelt(agent, name); tool != strings.ToLower(tool) {
			return agent + "." + tool
		}
	}
	return ""
}

// Names are all names that rules may have for the tools of all agents: that of the agent, that
// behind its agent, in small letters, and bash for what runs a script.
func Names() []string {
	all := []string{"bash"}
	for _, agent := range Agents() {
		for _, tool := range tools[agent] {
			all = append(all, tool, agent+"."+tool, strings.ToLower(tool))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A Name is a further name of a call that an agent makes by itself.
type Name struct {
	Text string
	Sure bool // otherwise it only restricts
}

// Further returns the names of a call of an agent's tool besides its own. members are the names that the
// server of an MCP tool may have, and the tool in it; command reports whether the call has a field of that name.
func Further(agent, tool string, members [][2]string, command bool) (all []Name) {
	add := func(name string, sure bool) {
		if name != tool && !slices.ContainsFunc(all, func(n Name) bool { return n.Text == name }) {
			all = append(all, Name{name, sure})
		}
	}
	add(agent+"."+tool, true)
	add(strings.ToLower(tool), true)
	known := slices.Contains(tools[agent], tool) || len(members) > 0
	if slices.Contains(shells[agent], tool) {
		add("bash", true)
	} else if MayRun(tool) || !known && command {
		add("bash", false)
	}
	for _, m := range members { // past the proxy, whose rules hold for it here too
		add(m[1], false)
		if m[0] != "" {
			add(m[0]+"."+m[1], false)
		}
	}
	return all
}

// Members are the names that the server of an MCP tool may have, and the tool in it, by what an agent calls it.
// There are several where one of them has the sign that the agent puts between them.
func Members(agent, tool string) [][2]string {
	all := Parts(tool)
	rest, ok := strings.CutPrefix(tool, "mcp_")
	switch {
	case ok && (agent == "vscode" || agent == "gemini-cli"):
		all = append(all, cuts(rest, "_")...)
	case agent == "vscode":
		all = append(all, cuts(tool, "-")...) // as Copilot CLI writes them
	}
	return all
}

// Parts are the ways to take apart the name that all agents make of an MCP tool.
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

// cuts are what stands before and behind each place of sign, where something does stand behind it.
func cuts(name, sign string) (all [][2]string) {
	for i := range len(name) - len(sign) {
		if strings.HasPrefix(name[i:], sign) {
			all = append(all, [2]string{name[:i], name[i+len(sign):]})
		}
	}
	return all
}
