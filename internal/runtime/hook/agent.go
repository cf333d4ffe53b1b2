package hook

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Agent is a program whose hook events this package can read.
type Agent struct {
	Name string // also the upstream of its tools in rules

	// DenyExit is the exit code of a hook process that refuses a call, in addition to the JSON that
	// it prints. With 2, agents show the model the text on stderr, so the refusal also works if
	// something else writes to stdout, such as a login shell. Cursor takes the reason only from the
	// JSON, and treats invalid JSON as a refusal.
	DenyExit int

	hold   time.Duration // how long a hook can wait for a person, within the timeout of docs/hooks.md
	hasIDs bool          // the agent gives each call an id
	ends   endReport     // how its events report the end of a script
	events map[string]kind
	deny   func(event, reason string) []byte
	change func(e *Event, args []byte) []byte // answer that changes the arguments of a call and leaves it to the agent's own permissions; nil: the agent does not support this. A nil result: not for this call
	read   func(*Event, []byte)               // reads agent-specific fields of an event; may be nil
}

// kind is the kind of an event.
type kind int

const (
	ignored  kind = iota
	before        // before a call, which is decided
	after         // after a call, which was successful unless its result says otherwise
	failed        // after a failed call
	turnEnds      // no call of the session is in flight any more
	ends          // the session ends
)

// agents lists the supported agents.
var agents = []*Agent{
	{
		Name: "claude-code", ends: byEvent, DenyExit: 2, hold: 45 * time.Second, hasIDs: true, deny: denyClaude, change: changeClaude, read: readClaude,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "PostToolUseFailure": failed, "Stop": turnEnds, "SessionEnd": ends},
	},
	{
		Name: "codex", ends: byCode, DenyExit: 2, hold: 45 * time.Second, hasIDs: true, deny: denyClaude,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "Stop": turnEnds, "SessionEnd": ends},
	},
	{
		Name: "gemini-cli", ends: byReport, DenyExit: 2, hold: 45 * time.Second, deny: denyGemini, change: changeGemini, read: readGemini,
		events: map[string]kind{"BeforeTool": before, "AfterTool": after, "AfterAgent": turnEnds, "SessionEnd": ends},
	},
	{
		Name: "cursor", ends: byCode, hold: 45 * time.Second, deny: denyCursor, read: readCursor,
		events: map[string]kind{
			"preToolUse": before, "postToolUse": after, "postToolUseFailure": failed, "beforeShellExecution": before, "afterShellExecution": after,
			"beforeMCPExecution": before, "afterMCPExecution": after, "beforeReadFile": before, "stop": turnEnds, "sessionEnd": ends,
		},
	},
	{
		Name: "vscode", ends: notReported, DenyExit: 2, hold: 20 * time.Second, deny: denyCopilot, read: readCopilot,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "PostToolUseFailure": failed, "Stop": turnEnds, "SessionEnd": ends},
	},
}

// Find returns the agent with the given name, or with the name that connect has for it; nil: none.
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

// Limit is the maximum duration of an answer of the gate, so that the hook ends before the timeout
// of docs/hooks.md.
func (a *Agent) Limit() time.Duration { return a.hold + 5*time.Second }

// Names returns the names of all agents.
func Names() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// Pass is the answer that leaves a call to the agent's own permissions. It is also the answer to
// events other than those before a call.
var Pass = []byte("{}")

// Deny returns the answer that refuses a call, with the reason for the model.
func (a *Agent) Deny(event, reason string) []byte { return a.deny(event, reason) }

func denyClaude(event, reason string) []byte {
	return rawjson.Object{}.Raw("hookSpecificOutput", specific(event, reason)).Bytes()
}

// denyCopilot refuses a call in both forms that VS Code reads: that of its own agent, and that of
// Copilot, which reads the same hooks file.
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

// readClaude marks the end of Monitor as uncertain: no event reports the end of the process that
// Monitor has started.
func readClaude(e *Event, _ []byte) {
	e.doubtful = e.Tool == "Monitor"
}

// readGemini reads the server of an MCP tool, and whether a call has failed.
func readGemini(e *Event, body []byte) {
	if server, ok := rawjson.MemberAt(body, "mcp_context", "server_name"); ok {
		e.Server, _ = rawjson.String(server)
		e.member = text(memberOf(body, "mcp_context"), "tool_name")
	}
	if wrong, ok := rawjson.MemberAt(body, "tool_response", "error"); e.kind == after && ok && string(wrong) != "null" {
		e.kind = failed
	}
}

// readCopilot reads whether a call has failed.
func readCopilot(e *Event, body []byte) {
	if ended, ok := rawjson.MemberAt(body, "tool_result", "result_type"); e.kind == after && ok && string(ended) != `"success"` {
		e.kind = failed
	}
}

// readCursor reads the events for one kind of tool.
func readCursor(e *Event, body []byte) {
	switch e.Name {
	case "beforeShellExecution", "afterShellExecution":
		command, _ := rawjson.Member(body, "command")
		if rawjson.Kind(command) == '"' {
			e.Tool, e.Args = "Shell", rawjson.Object{}.Raw("command", command).Bytes()
		}
		e.doubtful = true // these events have no exit code
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

func text(body []byte, key string) string {
	value, _ := rawjson.Member(body, key)
	s, _ := rawjson.String(value)
	return s
}
