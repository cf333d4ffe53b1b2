package hook

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// An Agent is a program whose hooks are understood.
type Agent struct {
	Name string // as it is the upstream of its tools in rules

	// DenyExit is what a hook that is a process exits with to refuse a call, beside the JSON that it
	// prints. With 2, agents show the model what is on stderr: it holds where something else gets on
	// stdout, as from a login shell. Cursor has its reason from the JSON alone, and refuses what is none.
	DenyExit int

	hold   time.Duration // how long its hooks can wait for a person, with the time-out that docs/hooks.md has
	marks  bool          // it gives each call an id
	ends   telling       // how its events tell the end of a script
	events map[string]kind
	deny   func(event, reason string) []byte
	change func(e *Event, args []byte) []byte // the answer that leaves a call with other arguments to the agent's own permissions; nil: the agent takes none. nil from it: not in this call
	read   func(*Event, []byte)               // what is particular to its events; nil: nothing
}

// A kind is what an event is about.
type kind int

const (
	ignored  kind = iota
	before        // a call: it is decided
	after         // a call that has ended, with success unless its result says otherwise
	failed        // a call that has failed
	turnEnds      // no call of the session is under way any more
	ends          // of the session
)

// agents are those whose hooks are understood.
var agents = []*Agent{
	{
		Name: "claude-code", ends: byEvent, DenyExit: 2, hold: 45 * time.Second, marks: true, deny: denyClaude, change: changeClaude, read: readClaude,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "PostToolUseFailure": failed, "Stop": turnEnds, "SessionEnd": ends},
	},
	{
		Name: "codex", ends: byCode, DenyExit: 2, hold: 45 * time.Second, marks: true, deny: denyClaude,
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
		Name: "vscode", ends: never, DenyExit: 2, hold: 20 * time.Second, deny: denyCopilot, read: readCopilot,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "PostToolUseFailure": failed, "Stop": turnEnds, "SessionEnd": ends},
	},
}

// Find returns the agent of a name, or of the name that connect has for it; nil: no agent has it.
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

// Limit is how long an answer of the gate may take, with which the hook is done before the
// time-out that docs/hooks.md has.
func (a *Agent) Limit() time.Duration { return a.hold + 5*time.Second }

// Names are the names of all agents.
func Names() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// Pass is the answer that leaves a call to the agent's own permissions, and that to events
// which are not about to happen.
var Pass = []byte("{}")

// Deny is the answer that refuses a call, with the reason for the model.
func (a *Agent) Deny(event, reason string) []byte { return a.deny(event, reason) }

func denyClaude(event, reason string) []byte {
	return rawjson.Object{}.Raw("hookSpecificOutput", specific(event, reason)).Bytes()
}

// denyCopilot refuses a call in both forms that VS Code has: of its own agent, and of Copilot, which reads the same file.
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

// readClaude reads how a call ended: the end of what Monitor has started is not told.
func readClaude(e *Event, _ []byte) {
	e.doubtful = e.Tool == "Monitor"
}

// readGemini reads the server of an MCP tool, and that a call has failed.
func readGemini(e *Event, body []byte) {
	if server, ok := rawjson.MemberAt(body, "mcp_context", "server_name"); ok {
		e.Server, _ = rawjson.String(server)
		e.member = text(memberOf(body, "mcp_context"), "tool_name")
	}
	if wrong, ok := rawjson.MemberAt(body, "tool_response", "error"); e.kind == after && ok && string(wrong) != "null" {
		e.kind = failed
	}
}

// readCopilot reads that a call has failed.
func readCopilot(e *Event, body []byte) {
	if ended, ok := rawjson.MemberAt(body, "tool_result", "result_type"); e.kind == after && ok && string(ended) != `"success"` {
		e.kind = failed
	}
}

// readCursor reads the events that are about one kind of tool.
func readCursor(e *Event, body []byte) {
	switch e.Name {
	case "beforeShellExecution", "afterShellExecution":
		command, _ := rawjson.Member(body, "command")
		if rawjson.Kind(command) == '"' {
			e.Tool, e.Args = "Shell", rawjson.Object{}.Raw("command", command).Bytes()
		}
		e.doubtful = true // the code of its end is not told
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
