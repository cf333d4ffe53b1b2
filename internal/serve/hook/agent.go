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
	shells []string      // what its tool that runs a script is called; rules may name it bash as well
	marks  bool          // it gives each call an id
	events map[string]kind
	deny   func(event, reason string) []byte
	read   func(*Event, []byte) // what is particular to its events; nil: nothing
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
		Name: "claude-code", DenyExit: 2, hold: 45 * time.Second, shells: agenttool.Shells("claude-code"), marks: true, deny: denyClaude, read: readClaude,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "PostToolUseFailure": failed, "Stop": turnEnds, "SessionEnd": ends},
	},
	{
		Name: "codex", DenyExit: 2, hold: 45 * time.Second, shells: agenttool.Shells("codex"), marks: true, deny: denyClaude, read: readCodex,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "Stop": turnEnds, "SessionEnd": ends},
	},
	{
		Name: "gemini-cli", DenyExit: 2, hold: 45 * time.Second, shells: agenttool.Shells("gemini-cli"), deny: denyGemini, read: readGemini,
		events: map[string]kind{"BeforeTool": before, "AfterTool": after, "AfterAgent": turnEnds, "SessionEnd": ends},
	},
	{
		Name: "cursor", hold: 45 * time.Second, shells: agenttool.Shells("cursor"), deny: denyCursor, read: readCursor,
		events: map[string]kind{
			"preToolUse": before, "postToolUse": after, "postToolUseFailure": failed, "beforeShellExecution": before, "afterShellExecution": after,
			"beforeMCPExecution": before, "afterMCPExecution": after, "beforeReadFile": before, "stop": turnEnds, "sessionEnd": ends,
		},
	},
	{
		Name: "vscode", DenyExit: 2, hold: 20 * time.Second, shells: agenttool.Shells("vscode"), deny: denyCopilot, read: readCopilot,
		events: map[string]kind{"PreToolUse": before, "PostToolUse": after, "PostToolUseFailure": failed, "Stop": turnEnds, "SessionEnd": ends},
	},
}

// Find returns the agent of a name, or of the name that connect has for it; nil: no agent has it.
func Find(name string) *Agent {
	if name == "gemini" {
		name = "gemini-cli"
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

// readCodex reads how a call ended: the event after it comes also after a script that has failed.
func readCodex(e *Event, body []byte) {
	if e.kind != after || !e.isShell() {
		return
	}
	response, _ := rawjson.Member(body, "tool_response")
	code, ok := rawjson.Member(response, "exit_code")
	if !ok {
		code, ok = rawjson.MemberAt(response, "metadata", "exit_code")
	}
	e.exited(code, ok)
}

// exited notes the code with which a script has ended, if it was told.
func (e *Event) exited(code []byte, told bool) {
	switch {
	case !told:
		e.doubtful = true
	case string(code) != "0":
		e.kind = failed
	}
}

// readGemini reads the server of an MCP tool, and how a call ended.
func readGemini(e *Event, body []byte) {
	if server, ok := rawjson.MemberAt(body, "mcp_context", "server_name"); ok {
		e.Server, _ = rawjson.String(server)
		e.member = text(memberOf(body, "mcp_context"), "tool_name")
	}
	wrong, ok := rawjson.MemberAt(body, "tool_response", "error")
	switch {
	case e.kind != after:
	case ok && string(wrong) != "null":
		e.kind = failed
	case e.isShell():
		said, _ := rawjson.MemberAt(body, "tool_response", "llmContent")
		report, _ := rawjson.String(said)
		e.doubtful = !endedWell(report)
	}
}

// endedWell reports whether what Gemini CLI tells its model of a script ends as that of one which has
// ended with code 0. The output of the script comes before, so that a script cannot take back what is
// said of it; one whose output ends like a failure is in doubt.
func endedWell(report string) bool {
	report = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(report), "</untrusted_context>"))
	lines := strings.Split(report, "\n")
	last := len(lines) - 1
	if !strings.HasPrefix(lines[last], "Process Group PGID: ") { // it was cancelled, goes on, or another model has written this
		return false
	}
	for _, line := range slices.Backward(lines[:last]) {
		what, value, _ := strings.Cut(line, ": ")
		switch well, known := endings[what]; {
		case !known: // it is of the output
			return true
		case value != well:
			return false
		}
	}
	return true
}

// endings are the lines after the output of a script, with what they say where all is well.
var endings = map[string]string{"Error": "(none)", "Exit Code": "0", "Signal": "(none)", "Background PIDs": "(none)"}

// readCopilot reads how a call ended. Of a script it is not told whether it has failed.
func readCopilot(e *Event, body []byte) {
	ended, ok := rawjson.MemberAt(body, "tool_result", "result_type")
	switch {
	case e.kind != after:
	case ok && string(ended) != `"success"`:
		e.kind = failed
	case e.isShell():
		e.doubtful = true
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
	case "postToolUse":
		if e.isShell() {
			said := []byte(text(body, "tool_output"))
			valid := rawjson.Check(said, rawjson.MaxDepth) == nil
			code, told := rawjson.Member(said, "exitCode")
			e.exited(code, valid && told)
		}
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
