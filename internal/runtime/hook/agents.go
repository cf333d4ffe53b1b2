package hook

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// agents lists the supported agents with the formats of their events and answers. Package agenttool
// lists the names of the events.
var agents = []*Agent{
	{
		Name: "claude-code", ends: byEvent, DenyExit: 2, hold: 45 * time.Second, hasIDs: true, Deny: denyClaude, change: changeClaude, read: readClaude,
	},
	{
		Name: "codex", ends: byCode, DenyExit: 2, hold: 45 * time.Second, hasIDs: true, Deny: denyClaude,
	},
	{
		Name: "gemini-cli", ends: byReport, DenyExit: 2, hold: 45 * time.Second, Deny: denyGemini, change: changeGemini, read: readGemini,
	},
	{
		Name: "cursor", ends: byCode, hold: 45 * time.Second, Deny: denyCursor, read: readCursor,
	},
	{
		Name: "vscode", ends: notReported, DenyExit: 2, hold: 20 * time.Second, Deny: denyCopilot, read: readCopilot,
	},
}

// Find returns the agent with the given name: either its own name or its name in the connect
// command. It returns nil if the name is unknown.
func Find(name string) *Agent {
	if a, ok := agenttool.Find(name); ok {
		name = a.Name
	}
	i := slices.IndexFunc(agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return agents[i]
}

// Names returns the names of the supported agents.
func Names() []string {
	return list.Map(agents, func(a *Agent) string { return a.Name })
}

func denyClaude(event, reason string) []byte {
	return rawjson.Object{}.Raw("hookSpecificOutput", specific(event, reason)).Bytes()
}

// denyCopilot returns a refusal in two formats, that of VS Code and that of Copilot, because the
// two programs read the same hooks file.
func denyCopilot(event, reason string) []byte {
	return rawjson.Object{}.String("permissionDecision", "deny").String("permissionDecisionReason", reason).Raw("hookSpecificOutput", specific(event, reason)).Bytes()
}

func specific(event, reason string) []byte {
	return rawjson.Object{}.String("hookEventName", cmp.Or(event, "PreToolUse")).String("permissionDecision", "deny").String("permissionDecisionReason", reason).Bytes()
}

func denyGemini(_, reason string) []byte {
	return rawjson.Object{}.String("decision", "deny").String("reason", reason).Bytes()
}

func denyCursor(_, reason string) []byte {
	return rawjson.Object{}.String("permission", "deny").String("user_message", "petrigate: "+reason).String("agent_message", reason).Bytes()
}

// readClaude marks the outcome of a call to the tool Monitor as uncertain, because no event reports
// the end of the process that Monitor starts.
func readClaude(e *Event, _ []byte) {
	e.doubtful = e.Tool == "Monitor"
}

// readGemini reads three facts from the event: the name of the MCP server, the tool's name at that
// server, and whether the call has failed.
func readGemini(e *Event, body []byte) {
	if server, ok := rawjson.MemberAt(body, "mcp_context", "server_name"); ok {
		e.Server, _ = rawjson.String(server)
		e.member = text(memberOf(body, "mcp_context"), "tool_name")
	}
	if wrong, ok := rawjson.MemberAt(body, "tool_response", "error"); e.kind == agenttool.AfterCall && ok && string(wrong) != "null" {
		e.kind = agenttool.CallFailed
	}
}

// readCopilot reads from the event whether the call has failed.
func readCopilot(e *Event, body []byte) {
	if ended, ok := rawjson.MemberAt(body, "tool_result", "result_type"); e.kind == agenttool.AfterCall && ok && string(ended) != `"success"` {
		e.kind = agenttool.CallFailed
	}
}

// readCursor reads the Cursor events that are specific to shell scripts, file reads or MCP tools.
func readCursor(e *Event, body []byte) {
	switch e.Name {
	case "beforeShellExecution", "afterShellExecution":
		command, _ := rawjson.Member(body, "command")
		if rawjson.Kind(command) == '"' {
			e.Tool, e.Args = "Shell", rawjson.Object{}.Raw("command", command).Bytes()
		}
		e.doubtful = true // Cursor reports no exit code in these events
	case "beforeReadFile":
		path, _ := rawjson.Member(body, "file_path")
		if rawjson.Kind(path) == '"' {
			e.Tool, e.Args = "Read", rawjson.Object{}.Raw("file_path", path).Bytes()
		}
	case "beforeMCPExecution", "afterMCPExecution":
		if e.Tool != "" {
			e.Tool = "MCP:" + strings.TrimPrefix(e.Tool, "MCP:")
		}
	}
	e.ID = cmp.Or(e.ID, text(body, "tool_call_id"))
}

// changeClaude returns the answer that makes Claude Code replace the arguments of the call with
// args. It does not set permissionDecision, so the user's permissions apply to the changed call.
func changeClaude(e *Event, args []byte) []byte {
	changed := rawjson.Object{}.String("hookEventName", e.Name).Raw("updatedInput", args).Bytes()
	return rawjson.Object{}.Raw("hookSpecificOutput", changed).Bytes()
}

// changeGemini returns the answer that makes Gemini CLI replace the arguments of the call with
// args. Gemini CLI still applies its own permissions to the changed call. changeGemini returns nil
// unless the working directory starts with a slash, because on Windows Gemini CLI runs scripts with
// PowerShell instead of bash.
func changeGemini(e *Event, args []byte) []byte {
	if !strings.HasPrefix(text(e.folders, "cwd"), "/") {
		return nil
	}
	changed := rawjson.Object{}.String("hookEventName", e.Name).Raw("tool_input", args).Bytes()
	return rawjson.Object{}.Raw("hookSpecificOutput", changed).Bytes()
}
