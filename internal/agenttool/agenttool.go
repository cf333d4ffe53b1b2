// Package agenttool lists the built-in tools of AI agents, under the names that the hooks of the
// agents report.
package agenttool

import (
	"slices"
	"strings"
)

// tools are the known built-in tools of each agent.
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

// shells are the tools that run scripts; rules can also name them bash.
var shells = map[string][]string{
	"claude-code": {"Bash"},
	"codex":       {"Bash", "shell", "exec_command"},
	"gemini-cli":  {"run_shell_command"},
	"cursor":      {"Shell"},
	"vscode":      {"Bash", "runTerminalCommand", "run_in_terminal", "runInTerminal"},
}

// asides are arguments of built-in tools that describe or time a call without changing its effect.
// Models write them anew for each call. Arguments that move a call to the background or out of its
// sandbox do change the effect and are not listed.
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

// anyTool are asides of all tools of an agent: Gemini CLI adds the order of calls to each.
var anyTool = map[string][]string{"gemini-cli": {"wait_for_previous"}}

// Asides returns the arguments of an agent's built-in tool that do not change its effect.
func Asides(agent, tool string) []string { return slices.Concat(asides[agent][tool], anyTool[agent]) }

// silent are the agents whose hooks do not report the end of a script.
var silent = []string{"codex", "vscode"}

// TellsEnds reports whether the hooks of an agent report the end of a script.
func TellsEnds(agent string) bool { return !slices.Contains(silent, agent) }

// changing are the agents whose hooks can change the script of a call. Other agents ignore such a
// change or treat it as permission: Codex accepts a change only together with "allow"; VS Code and
// Cursor were not tested.
var changing = []string{"claude-code", "gemini-cli"}

// TakesScript reports whether the agent runs the script in the answer of its hook instead of the
// original one.
func TakesScript(agent string) bool { return slices.Contains(changing, agent) }

// Shells returns the tools of an agent that run scripts.
func Shells(agent string) []string { return slices.Clone(shells[agent]) }

// beside are further tools that run scripts, but whose end is not reported or whose scripts are for
// another shell.
var beside = []string{"Monitor", "PowerShell", "send_to_terminal"}

// MayRun reports whether a tool might run a script in its command argument. Restrictions on bash
// apply to such a tool, but its calls never count as evidence.
func MayRun(tool string) bool { return slices.Contains(beside, tool) }

// Agents returns the names of the known agents, sorted.
func Agents() (names []string) {
	for agent := range tools {
		names = append(names, agent)
	}
	slices.Sort(names)
	return names
}

// Of returns the built-in tools of an agent, under the agent's own names.
func Of(agent string) []string { return slices.Clone(tools[agent]) }

// Spelt returns the agent's own spelling of a built-in tool name, or "" if the agent has no such
// tool. Only bash is matched without regard to case.
func Spelt(agent, name string) string {
	for _, tool := range tools[agent] {
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
		for _, tool := range tools[agent] {
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
	known := slices.Contains(tools[agent], tool) || len(members) > 0
	if slices.Contains(shells[agent], tool) {
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
	case ok && (agent == "vscode" || agent == "gemini-cli"):
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
