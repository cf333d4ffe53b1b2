package agenttool

import (
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// An Agent describes an AI agent whose hooks petrigate supports.
type Agent struct {
	Name   string // name used in rules and as an argument of petrigate hook
	Client string // client name for petrigate connect
	Title  string // display name

	Tools  []string // known built-in tools
	Shells []string // tools that run scripts; in rules, bash is another name for these tools
	Edits  []string // tools that change files
	Reads  []string // tools that only read; starter policies limit repeated calls of these tools

	Fields []string    // names of the arguments that contain a file name in calls to any tool
	Lists  [][2]string // tools that take several files, each with the JSON path of the file names in its arguments
	Patch  [2]string   // tool that takes a patch, and the argument that contains the patch

	// Asides lists, for each tool, the arguments that do not change the effect of a call, such as a
	// description or a timeout. petrigate ignores these arguments when it compares calls. Arguments
	// under the key "*" belong to every tool. Arguments that run a call in the background or
	// outside the sandbox are not listed, because they change its effect.
	Asides map[string][]string

	Silent      bool // whether the agent's events omit the outcome of scripts
	TakesScript bool // whether the agent runs a script returned by its hook in place of the original one
	ShortPrefix bool // whether MCP tools are named mcp_SERVER_TOOL instead of mcp__SERVER__TOOL

	Hooks Hooks
}

// agents lists the known agents in the order used in messages. Set TakesScript only after testing
// that the agent runs a script returned by its hook. Some agents run the original script instead.
var agents = []Agent{
	{
		Name: "claude-code", Client: "claude-code", Title: "Claude Code", TakesScript: true,
		Tools: []string{
			"Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "Edit", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillShell",
			"LS", "ListAgents", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "PushNotification", "Read", "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "Skill",
			"SlashCommand", "Task", "TaskCreate", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
		},
		Shells: []string{"Bash"},
		Edits:  []string{"Edit", "MultiEdit", "NotebookEdit", "Write"}, Reads: []string{"Read", "WebFetch"},
		Fields: []string{"file_path", "path"},
		Asides: map[string][]string{
			"Bash": {"description", "timeout"}, "PowerShell": {"description", "timeout"}, "Monitor": {"description", "timeout_ms"},
			"Agent": {"description"}, "Task": {"description"},
		},
		Hooks: Hooks{
			File: HookFile{Variable: "CLAUDE_CONFIG_DIR", Directory: ".claude", Name: "settings.json"}, Wait: 60, URL: true, Typed: true,
			Events: []HookEvent{
				{Name: "PreToolUse", Kind: BeforeCall, Configured: true}, {Name: "PostToolUse", Kind: AfterCall, Configured: true},
				{Name: "PostToolUseFailure", Kind: CallFailed, Configured: true}, {Name: "Stop", Kind: TurnEnd}, {Name: "SessionEnd", Kind: SessionEnd, Configured: true},
			},
			FailClosed: HookMember{Key: "onFailure", Value: "block"},
			Beside:     []string{".claude/settings.json", ".claude/settings.local.json"}, Off: [][]string{{"disableAllHooks", "true"}},
			Gaps: []string{"before version 2.1.295, a failing hook lets the call pass", "@file mentions do not run hooks"},
		},
	},
	{
		Name: "codex", Client: "codex", Title: "Codex", Silent: true,
		Tools: []string{
			"Bash", "apply_patch", "create_goal", "exec_command", "get_goal", "request_user_input", "shell", "update_goal", "update_plan", "view_image", "web_search",
			"write_stdin",
		},
		Shells: []string{"Bash", "shell", "exec_command"},
		Edits:  []string{"apply_patch"}, Patch: [2]string{"apply_patch", "command"},
		Asides: map[string][]string{
			"Bash": {"justification", "timeout_ms", "yield_time_ms", "max_output_tokens"}, "shell": {"justification", "timeout_ms"},
			"exec_command": {"justification", "yield_time_ms", "max_output_tokens"}, "write_stdin": {"yield_time_ms", "max_output_tokens"},
		},
		Hooks: Hooks{
			File: HookFile{Variable: "CODEX_HOME", Directory: ".codex", Name: "hooks.json"}, Wait: 60, Typed: true,
			Events: []HookEvent{
				{Name: "PreToolUse", Kind: BeforeCall, Configured: true}, {Name: "PostToolUse", Kind: AfterCall, Configured: true},
				{Name: "Stop", Kind: TurnEnd, Configured: true}, {Name: "SessionEnd", Kind: SessionEnd},
			},
			Sibling: "config.toml", Beside: []string{".codex/config.toml"}, Off: [][]string{{"features", "hooks", "false"}, {"features", "codex_hooks", "false"}},
			Gaps: []string{"Codex does not run a hook until you trust it: type /hooks in codex, and trust it", timeoutGap, "input to a running program (write_stdin) has no hook"},
		},
	},
	{
		Name: "gemini-cli", Client: "gemini", Title: "Gemini CLI", TakesScript: true, ShortPrefix: true,
		Tools: []string{
			"activate_skill", "enter_plan_mode", "exit_plan_mode", "glob", "google_web_search", "grep_search", "invoke_agent", "list_background_processes", "list_directory",
			"read_background_output", "read_file", "read_many_files", "replace", "run_shell_command", "save_memory", "search_file_content", "update_topic", "web_fetch",
			"write_file", "write_todos",
		},
		Shells: []string{"run_shell_command"},
		Edits:  []string{"replace", "write_file"}, Reads: []string{"read_file", "web_fetch"},
		Fields: []string{"absolute_path", "file_path", "path"},
		Asides: map[string][]string{"run_shell_command": {"description", "delay_ms"}, "*": {"wait_for_previous"}},
		Hooks: Hooks{
			File: HookFile{Directory: ".gemini", Name: "settings.json"}, Wait: 60, Milli: true, Typed: true,
			Events: []HookEvent{
				{Name: "BeforeTool", Kind: BeforeCall, Configured: true}, {Name: "AfterTool", Kind: AfterCall, Configured: true},
				{Name: "AfterAgent", Kind: TurnEnd}, {Name: "SessionEnd", Kind: SessionEnd, Configured: true},
			},
			Beside: []string{".gemini/settings.json"}, Off: [][]string{{"hooksConfig", "enabled", "false"}, {"tools", "enableHooks", "false"}},
			Gaps: []string{timeoutGap},
		},
	},
	{
		Name: "cursor", Client: "cursor", Title: "Cursor",
		Tools: []string{
			"ApplyPatch", "Delete", "Edit", "EditNotebook", "Glob", "Grep", "LS", "Read", "Shell", "StrReplace", "TabWrite", "Task", "WebFetch", "WebSearch", "Write",
		},
		Shells: []string{"Shell"},
		Edits:  []string{"ApplyPatch", "Delete", "Edit", "EditNotebook", "StrReplace", "TabWrite", "Write"},
		Reads:  []string{"Read", "WebFetch"},
		Fields: []string{"file_path", "path", "target_file"},
		Asides: map[string][]string{"Shell": {"description", "timeout", "block_until_ms"}, "Task": {"description"}},
		Hooks: Hooks{
			File: HookFile{Directory: ".cursor", Name: "hooks.json"}, New: "{\n  \"version\": 1\n}\n", Wait: 60, Flat: true,
			Events: []HookEvent{
				{Name: "preToolUse", Kind: BeforeCall, Configured: true, Tools: exceptMCP}, {Name: "postToolUse", Kind: AfterCall, Configured: true, Tools: exceptMCP},
				{Name: "postToolUseFailure", Kind: CallFailed, Configured: true, Tools: exceptMCP}, {Name: "sessionEnd", Kind: SessionEnd, Configured: true},
				{Name: "beforeShellExecution", Kind: BeforeCall}, {Name: "afterShellExecution", Kind: AfterCall}, {Name: "beforeMCPExecution", Kind: BeforeCall},
				{Name: "afterMCPExecution", Kind: AfterCall}, {Name: "beforeReadFile", Kind: BeforeCall}, {Name: "stop", Kind: TurnEnd},
			},
			FailClosed: HookMember{Key: "failClosed", Value: true},
			Gaps:       []string{"petrigate does not see MCP tools that bypass it: Cursor does not name their server"},
		},
	},
	{
		Name: "vscode", Client: "vscode", Title: "VS Code", Silent: true, ShortPrefix: true,
		Tools: []string{
			"Agent", "Bash", "Edit", "Glob", "Grep", "Read", "WebFetch", "WebSearch", "Write", "createFile", "editFiles", "fetch", "readFile", "runInTerminal", "runTerminalCommand", "run_in_terminal", "create_file", "replace_string_in_file",
			"insert_edit_into_file", "multi_replace_string_in_file", "apply_patch", "edit_notebook_file", "read_file", "fetch_webpage", "send_to_terminal",
		},
		Shells: []string{"Bash", "runTerminalCommand", "run_in_terminal", "runInTerminal"},
		Edits: []string{
			"apply_patch", "create_file", "editFiles", "edit_notebook_file", "insert_edit_into_file", "multi_replace_string_in_file", "replace_string_in_file",
		},
		Reads:  []string{"fetch_webpage", "read_file"},
		Fields: []string{"filePath", "file_path", "path"},
		Lists:  [][2]string{{"editFiles", "$.files[*]"}, {"multi_replace_string_in_file", "$.replacements[*].filePath"}},
		Patch:  [2]string{"apply_patch", "input"},
		Asides: map[string][]string{
			"Bash": {"description", "timeout", "initial_wait"}, "Agent": {"description"}, "run_in_terminal": {"explanation", "goal", "timeout"},
			"runInTerminal": {"explanation", "goal", "timeout"}, "runTerminalCommand": {"explanation", "goal", "timeout"},
			"insert_edit_into_file": {"explanation"}, "replace_string_in_file": {"explanation"}, "multi_replace_string_in_file": {"explanation"},
			"apply_patch": {"explanation"},
		},
		Hooks: Hooks{
			File: HookFile{Directory: ".github/hooks", Name: "petrigate.json", InProject: true}, Wait: 30, Flat: true, Typed: true,
			Events: []HookEvent{
				{Name: "PreToolUse", Kind: BeforeCall, Configured: true}, {Name: "PostToolUse", Kind: AfterCall, Configured: true},
				{Name: "PostToolUseFailure", Kind: CallFailed}, {Name: "Stop", Kind: TurnEnd, Configured: true}, {Name: "SessionEnd", Kind: SessionEnd},
			},
			Gaps: []string{timeoutGap, "VS Code ignores matchers: the hook sees every tool"},
		},
	},
}

// All returns all known agents.
func All() []Agent { return slices.Clone(agents) }

// Find returns the agent with the given name or client name. It returns false if no agent has this
// name.
func Find(name string) (Agent, bool) {
	if a := list.Find(agents, func(a Agent) bool { return a.Name == name || a.Client == name }); a != nil {
		return *a, true
	}
	return Agent{}, false
}

// named returns the agent with the given name, or the zero Agent if the name is unknown.
func named(name string) Agent {
	if a, ok := Find(name); ok && a.Name == name {
		return a
	}
	return Agent{}
}
