package hook

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
)

// documented has events from the documentation of the agents.
var documented = []struct {
	agent, event string
	kind         agenttool.EventKind
	session      string
	turn, id     string
	tool, args   string
	outcome      gate.Outcome // of an event after a call
}{
	{"claude-code", `{"session_id":"abc123","prompt_id":"p1","transcript_path":"/home/u/.claude/projects/x/abc123.jsonl","cwd":"/home/u/x","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test","description":"Run tests","timeout":120000,"run_in_background":false},"tool_use_id":"toolu_01ABC"}`,
		agenttool.BeforeCall, "abc123", "p1", "toolu_01ABC", "Bash", `{"command":"npm test","description":"Run tests","timeout":120000,"run_in_background":false}`, gate.Success},
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","permission_mode":"default","agent_id":"a1","agent_type":"Explore","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"/x/a","content":"b"},"tool_response":{"filePath":"/x/a","success":true},"tool_use_id":"toolu_02","duration_ms":12}`,
		agenttool.AfterCall, "abc123", "", "toolu_02", "Write", `{"file_path":"/x/a","content":"b"}`, gate.Success},
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","permission_mode":"default","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_use_id":"toolu_03","error":"Command exited with non-zero status code 1","is_interrupt":false}`,
		agenttool.CallFailed, "abc123", "", "toolu_03", "Bash", `{"command":"npm test"}`, gate.Failure},
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_use_id":"toolu_04","error":"interrupted","is_interrupt":true}`,
		agenttool.AfterCall, "abc123", "", "toolu_04", "Bash", `{"command":"npm test"}`, gate.Unknown},
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_response":{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"b1"},"tool_use_id":"toolu_05"}`,
		agenttool.AfterCall, "abc123", "", "toolu_05", "Bash", `{"command":"npm test"}`, gate.Unknown},
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"npm test && git diff"},"tool_response":{"stdout":"","stderr":"","interrupted":false,"returnCodeInterpretation":"Files differ"},"tool_use_id":"toolu_07"}`,
		agenttool.AfterCall, "abc123", "", "toolu_07", "Bash", `{"command":"npm test && git diff"}`, gate.Unknown},
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","hook_event_name":"PostToolUse","tool_name":"Monitor","tool_input":{"command":"npm test"},"tool_response":{"taskId":"b1"},"tool_use_id":"toolu_06"}`,
		agenttool.AfterCall, "abc123", "", "toolu_06", "Monitor", `{"command":"npm test"}`, gate.Unknown}, // it continues
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","hook_event_name":"SessionEnd","reason":"prompt_input_exit"}`, agenttool.SessionEnd, "abc123", "", "", "", `{}`, gate.Success},
	{"claude-code", `{"session_id":"abc123","transcript_path":"/x","cwd":"/x","hook_event_name":"Stop","stop_hook_active":false}`, agenttool.TurnEnd, "abc123", "", "", "", `{}`, gate.Success},
	{"claude-code", `{"session_id":"abc123","hook_event_name":"Notification","message":"x"}`, agenttool.Ignored, "abc123", "", "", "", `{}`, gate.Success},

	{"codex", `{"session_id":"0199","turn_id":"t7","transcript_path":"/home/u/.codex/sessions/x.jsonl","cwd":"/x","hook_event_name":"PreToolUse","model":"gpt-5","permission_mode":"default","tool_name":"Bash","tool_use_id":"call_1","tool_input":{"command":"ls"}}`,
		agenttool.BeforeCall, "0199", "t7", "call_1", "Bash", `{"command":"ls"}`, gate.Success},
	{"codex", `{"session_id":"0199","turn_id":"t7","cwd":"/x","hook_event_name":"PostToolUse","model":"gpt-5","permission_mode":"default","tool_name":"Bash","tool_use_id":"call_1","tool_input":{"command":"ls"},"tool_response":"a\nb\n"}`,
		agenttool.AfterCall, "0199", "t7", "call_1", "Bash", `{"command":"ls"}`, gate.Unknown},
	{"codex", `{"session_id":"0199","turn_id":"t7","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"call_1","tool_input":{"command":"ls"},"tool_response":{"output":"","metadata":{"exit_code":0}}}`,
		agenttool.AfterCall, "0199", "t7", "call_1", "Bash", `{"command":"ls"}`, gate.Success},
	{"codex", `{"session_id":"0199","turn_id":"t7","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"call_1","tool_input":{"command":"ls"},"tool_response":{"output":"","exit_code":2}}`,
		agenttool.CallFailed, "0199", "t7", "call_1", "Bash", `{"command":"ls"}`, gate.Failure},
	{"codex", `{"session_id":"0199","turn_id":"t7","hook_event_name":"PostToolUse","tool_name":"apply_patch","tool_use_id":"call_2","tool_input":{"command":"*** Begin Patch"},"tool_response":"Done"}`,
		agenttool.AfterCall, "0199", "t7", "call_2", "apply_patch", `{"command":"*** Begin Patch"}`, gate.Success},

	{"gemini-cli", `{"session_id":"g1","transcript_path":"/x","cwd":"/x","hook_event_name":"BeforeTool","timestamp":"2026-11-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"ls","is_background":false}}`,
		agenttool.BeforeCall, "g1", "", "", "run_shell_command", `{"command":"ls","is_background":false}`, gate.Success},
	{"gemini-cli", `{"session_id":"g1","cwd":"/x","hook_event_name":"AfterTool","timestamp":"2026-11-01T00:00:00Z","tool_name":"write_file","tool_input":{"file_path":"a"},"tool_response":{"llmContent":"ok","returnDisplay":"ok"}}`,
		agenttool.AfterCall, "g1", "", "", "write_file", `{"file_path":"a"}`, gate.Success},
	{"gemini-cli", `{"session_id":"g1","cwd":"/x","hook_event_name":"AfterTool","tool_name":"write_file","tool_input":{"file_path":"a"},"tool_response":{"llmContent":"no","error":{"message":"no"}}}`,
		agenttool.CallFailed, "g1", "", "", "write_file", `{"file_path":"a"}`, gate.Failure},
	{"gemini-cli", geminiShell(`Output: (empty)\nProcess Group PGID: 7`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Success},
	{"gemini-cli", geminiShell(`Output: FAIL\nExit Code: 1\nProcess Group PGID: 7`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Unknown},
	{"gemini-cli", geminiShell(`Output: ok\nProcess Group PGID: 7\nExit Code: 1\nProcess Group PGID: 8`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Unknown},
	{"gemini-cli", geminiShell(`Output: Exit Code: 1\nExit Code: 0\nok\nProcess Group PGID: 7`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Success},
	{"gemini-cli", geminiShell(`Output: ok\nSignal: 9\nProcess Group PGID: 7`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Unknown},
	{"gemini-cli", geminiShell(`Output: ok\nBackground PIDs: 9\nProcess Group PGID: 7`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Unknown},
	{"gemini-cli", geminiShell(`Command was cancelled by user before it could complete. There was no output before it was cancelled.`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Unknown},
	{"gemini-cli", geminiShell(`Command: ls\nDirectory: (root)\nOutput: ok\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7`), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Success},
	{"gemini-cli", geminiShell(``), agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Unknown},
	{"gemini-cli", `{"session_id":"g1","cwd":"/x","hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_response":{"llmContent":[{"text":"Process Group PGID: 7"}]}}`,
		agenttool.AfterCall, "g1", "", "", "run_shell_command", `{"command":"ls"}`, gate.Unknown},
	{"gemini-cli", `{"session_id":"g1","cwd":"/x","hook_event_name":"SessionEnd","reason":"exit"}`, agenttool.SessionEnd, "g1", "", "", "", `{}`, gate.Success},

	{"cursor", `{"conversation_id":"c1","generation_id":"g1","model":"m","hook_event_name":"preToolUse","cursor_version":"2.4","workspace_roots":["/x"],"tool_name":"Shell","tool_input":{"command":"ls","working_directory":"/x"},"tool_use_id":"u1"}`,
		agenttool.BeforeCall, "c1", "g1", "u1", "Shell", `{"command":"ls","working_directory":"/x"}`, gate.Success},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"postToolUse","tool_name":"Write","tool_input":{"file_path":"a"},"tool_output":"{}","tool_use_id":"u1","duration":5}`,
		agenttool.AfterCall, "c1", "g1", "u1", "Write", `{"file_path":"a"}`, gate.Success},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"postToolUse","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_output":"{\"exitCode\":0,\"stdout\":\"All tests passed\"}","tool_use_id":"abc123","cwd":"/project","duration":5432}`,
		agenttool.AfterCall, "c1", "g1", "abc123", "Shell", `{"command":"npm test"}`, gate.Success},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"postToolUse","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_output":"{\"exitCode\":1,\"stdout\":\"exitCode: 0\"}","tool_use_id":"abc123"}`,
		agenttool.CallFailed, "c1", "g1", "abc123", "Shell", `{"command":"npm test"}`, gate.Failure},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"postToolUse","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_output":"{\"exitCode\":1,\"exitCode\":0}","tool_use_id":"abc123"}`,
		agenttool.AfterCall, "c1", "g1", "abc123", "Shell", `{"command":"npm test"}`, gate.Unknown},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"postToolUse","tool_name":"Shell","tool_input":{"command":"npm test"},"tool_output":"ok","tool_use_id":"abc123"}`,
		agenttool.AfterCall, "c1", "g1", "abc123", "Shell", `{"command":"npm test"}`, gate.Unknown},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"postToolUseFailure","tool_name":"Write","tool_input":{"file_path":"a"},"tool_use_id":"u1","error_message":"x","failure_type":"error"}`,
		agenttool.CallFailed, "c1", "g1", "u1", "Write", `{"file_path":"a"}`, gate.Failure},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"beforeShellExecution","command":"git push","cwd":"/x"}`,
		agenttool.BeforeCall, "c1", "g1", "", "Shell", `{"command":"git push"}`, gate.Success},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"afterShellExecution","command":"git push","output":"x","duration":9}`,
		agenttool.AfterCall, "c1", "g1", "", "Shell", `{"command":"git push"}`, gate.Unknown},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"beforeMCPExecution","tool_name":"search","tool_input":"{\"q\":\"a\"}","url":"http://x/mcp"}`,
		agenttool.BeforeCall, "c1", "g1", "", "MCP:search", `{"q":"a"}`, gate.Success},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"afterMCPExecution","tool_name":"search","tool_input":"{\"q\":\"a\"}","result_json":"{}","duration":3}`,
		agenttool.AfterCall, "c1", "g1", "", "MCP:search", `{"q":"a"}`, gate.Success},
	{"cursor", `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"stop","status":"completed"}`, agenttool.TurnEnd, "c1", "g1", "", "", `{}`, gate.Success},

	{"vscode", `{"timestamp":"2026-11-01T00:00:00Z","cwd":"/x","sessionId":"v1","hookEventName":"PreToolUse","transcript_path":"/x","tool_name":"editFiles","tool_input":{"files":["a"]},"tool_use_id":"tool-1"}`,
		agenttool.BeforeCall, "v1", "", "tool-1", "editFiles", `{"files":["a"]}`, gate.Success},
	{"vscode", `{"sessionId":"v1","hookEventName":"PostToolUse","tool_name":"run_in_terminal","tool_input":{"command":"ls"},"tool_use_id":"tool-2","tool_response":"Command exited with code 1"}`,
		agenttool.AfterCall, "v1", "", "tool-2", "run_in_terminal", `{"command":"ls"}`, gate.Unknown},
	{"vscode", `{"hook_event_name":"PreToolUse","session_id":"v2","timestamp":"2026-11-01T00:00:00Z","cwd":"/x","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		agenttool.BeforeCall, "v2", "", "", "Bash", `{"command":"ls"}`, gate.Success},
	{"vscode", `{"hook_event_name":"PostToolUse","session_id":"v2","cwd":"/x","tool_name":"Edit","tool_input":{"path":"a"},"tool_result":{"result_type":"success","text_result_for_llm":"x"}}`,
		agenttool.AfterCall, "v2", "", "", "Edit", `{"path":"a"}`, gate.Success},
	{"vscode", `{"hook_event_name":"PostToolUse","session_id":"v2","cwd":"/x","tool_name":"Edit","tool_input":{"path":"a"},"tool_result":{"result_type":"rejected","text_result_for_llm":"x"}}`,
		agenttool.CallFailed, "v2", "", "", "Edit", `{"path":"a"}`, gate.Failure},
	{"vscode", `{"hook_event_name":"PostToolUse","session_id":"v2","cwd":"/x","tool_name":"Bash","tool_input":{"command":"ls"},"tool_result":{"result_type":"success","text_result_for_llm":"<exited with exit code 1>"}}`,
		agenttool.AfterCall, "v2", "", "", "Bash", `{"command":"ls"}`, gate.Unknown},
	{"vscode", `{"hook_event_name":"PostToolUseFailure","session_id":"v2","cwd":"/x","tool_name":"Edit","tool_input":{"path":"a"},"error":"no"}`,
		agenttool.CallFailed, "v2", "", "", "Edit", `{"path":"a"}`, gate.Failure},
	{"vscode", `{"hook_event_name":"SessionEnd","session_id":"v2","cwd":"/x","reason":"complete"}`, agenttool.SessionEnd, "v2", "", "", "", `{}`, gate.Success},
	{"vscode", `{"cwd":"/x","sessionId":"v1","hookEventName":"PostToolUse","tool_name":"editFiles","tool_input":{"files":["a"]},"tool_use_id":"tool-1","tool_response":"File edited"}`,
		agenttool.AfterCall, "v1", "", "tool-1", "editFiles", `{"files":["a"]}`, gate.Success},
}

// geminiShell returns the event of Gemini CLI after a script, with the given text for its model.
func geminiShell(report string) string {
	return `{"session_id":"g1","cwd":"/x","hook_event_name":"AfterTool","timestamp":"2026-11-26T08:44:20.219Z","tool_name":"run_shell_command","tool_input":{"command":"ls"},` +
		`"tool_response":{"llmContent":"<untrusted_context>\n` + report + `\n</untrusted_context>","returnDisplay":"x"}}`
}

// TestAgentsMatchFacts compares the protocol of each agent with its documented facts: whether it accepts
// a changed script, and whether its events report the end of a script (W116 warns if they do not).
func TestAgentsMatchFacts(t *testing.T) {
	if !slices.Equal(slices.Sorted(slices.Values(Names())), agenttool.Agents()) {
		t.Errorf("the protocols of %v are known, and the facts of %v", Names(), agenttool.Agents())
	}
	for _, a := range agents {
		tells := agenttool.TellsEnds(a.Name)
		if agenttool.TakesScript(a.Name) != (a.change != nil) || a.change != nil && !tells {
			t.Errorf("%s takes another script: %t", a.Name, agenttool.TakesScript(a.Name))
		}
		if a.ends == notReported && tells || (a.ends == byEvent || a.ends == byReport) && !tells {
			t.Errorf("%s: its events report the end of a script by %d, but TellsEnds is %v", a.Name, a.ends, tells)
		}
	}
}

// TestDocumentedEvents: the documented events of each agent are read correctly.
func TestDocumentedEvents(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range documented {
		e, err := Find(c.agent).Read([]byte(c.event))
		if err != nil {
			t.Errorf("%s: %v", c.event, err)
			continue
		}
		seen[c.agent] = true
		if e.kind != c.kind || e.Session != c.session || e.turn != c.turn || e.ID != c.id || e.Tool != c.tool || string(e.Args) != c.args {
			t.Errorf("%s %s:\n%+v", c.agent, c.event, e)
		}
		if (e.kind == agenttool.AfterCall || e.kind == agenttool.CallFailed) && e.outcome() != c.outcome {
			t.Errorf("%s %s: ended with %v", c.agent, c.event, e.outcome())
		}
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("no event of %s is tested", name)
		}
	}
}

// TestRulesApplyToAgentTools: rules for a tool apply to the corresponding tools of agents.
func TestRulesApplyToAgentTools(t *testing.T) {
	free := func(string) bool { return false }
	for _, c := range []struct {
		agent, tool string
		certain     []string
		weak        []string
	}{
		{"claude-code", "Bash", []string{"claude-code.Bash", "bash"}, nil},
		{"claude-code", "Edit", []string{"claude-code.Edit", "edit"}, nil},
		{"gemini-cli", "run_shell_command", []string{"gemini-cli.run_shell_command", "bash"}, nil},
		{"cursor", "Shell", []string{"cursor.Shell", "shell", "bash"}, nil},
		{"vscode", "runTerminalCommand", []string{"vscode.runTerminalCommand", "runterminalcommand", "bash"}, nil},
		{"claude-code", "Monitor", []string{"claude-code.Monitor", "monitor"}, []string{"bash"}},
		{"claude-code", "PowerShell", []string{"claude-code.PowerShell", "powershell"}, []string{"bash"}},
		{"claude-code", "RunLater", []string{"claude-code.RunLater", "runlater"}, []string{"bash"}}, // of a future version
		{"codex", "apply_patch", []string{"codex.apply_patch"}, nil},
		{"vscode", "send_to_terminal", []string{"vscode.send_to_terminal"}, []string{"bash"}},
		{"claude-code", "mcp__git__push", []string{"claude-code.mcp__git__push"}, []string{"push", "git.push"}},
		{"claude-code", "mcp__a__b__push", []string{"claude-code.mcp__a__b__push"}, []string{"b__push", "a.b__push", "push", "a__b.push"}},
		{"codex", "mcp__a___push", []string{"codex.mcp__a___push"}, []string{"_push", "a._push", "push", "a_.push"}},
		{"gemini-cli", "mcp_git_push", []string{"gemini-cli.mcp_git_push"}, []string{"push", "git.push"}},                     // without mcp_context
		{"vscode", "my-git-push", []string{"vscode.my-git-push"}, []string{"git-push", "my.git-push", "push", "my-git.push"}}, // format of Copilot CLI
		{"cursor", "MCP:push", []string{"cursor.MCP:push", "mcp:push"}, []string{"push"}},
		{"cursor", "MCP:a:b:push", []string{"cursor.MCP:a:b:push", "mcp:a:b:push"}, []string{"b:push", "a.b:push", "push", "a:b.push"}},
	} {
		e := &Event{agent: Find(c.agent), Tool: c.tool, Args: []byte(`{"command":"x"}`)}
		var certain, weak []string
		for _, n := range e.call(free).Also {
			if n.Certain && !n.Weak {
				certain = append(certain, n.Text)
			} else {
				weak = append(weak, n.Text)
			}
		}
		if !slices.Equal(certain, c.certain) || !slices.Equal(weak, c.weak) {
			t.Errorf("%s.%s: %v, %v", c.agent, c.tool, certain, weak)
		}
		for _, n := range e.call(func(string) bool { return true }).Also {
			if n.Certain || !n.Weak {
				t.Errorf("%s.%s: %+v is that of a server's tool", c.agent, c.tool, n)
			}
		}
	}
}

// TestGeminiToolNames: an MCP tool that Gemini CLI calls without the proxy is restricted by its names
// at its server, which cannot be derived from the name of the tool.
func TestGeminiToolNames(t *testing.T) {
	e, err := Find("gemini-cli").Read([]byte(`{"session_id":"g1","hook_event_name":"BeforeTool","tool_name":"mcp_git_hub_push_all","tool_input":{},"mcp_context":{"server_name":"git_hub","tool_name":"push_all","command":"x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	var weak []string
	for _, n := range e.call(func(string) bool { return false }).Also {
		if n.Weak {
			weak = append(weak, n.Text)
		}
	}
	if want := []string{"push_all", "git_hub.push_all"}; !slices.Equal(weak, want) || through(e, "git", offersAll) || !through(e, "git_hub", offersAll) {
		t.Errorf("%q, want %q", weak, want)
	}
}

func offersAll(string) bool { return true }

func through(e *Event, server string, offered func(string) bool) bool {
	_, ok := e.throughProxy([]string{server}, offered)
	return ok
}

// TestCopilotNames: VS Code joins the names of a server and of its tool. Only tools that the proxy
// offers come through it; any other tool is restricted by all names that the joined name may
// contain.
func TestCopilotNames(t *testing.T) {
	offers := func(name string) bool { return name == "push" || name == "git_log" }
	for _, c := range []struct {
		tool, server string
		want         bool
	}{
		{"mcp_petrigate_push", "petrigate", true},
		{"mcp_petrigate_git_log", "petrigate", true},
		{"mcp_petrigate_evi_push", "petrigate", false}, // of a server petrigate_evil
		{"mcp_petrigate2_push", "petrigate", false},    // of a second server of that name
		{"mcp_petrigate_", "petrigate", false},
		{"mcp_my_gate_push", "My gate!", false},
		{"mcp_my_gate__push", "My gate!", true},
		{"mcp_a_long_name_o_push", "a long name of a server", true},
	} {
		e := &Event{agent: Find("vscode"), Tool: c.tool}
		if got := through(e, c.server, offers); got != c.want {
			t.Errorf("%s of %s: %v", c.tool, c.server, got)
		}
	}
	var weak []string
	for _, n := range (&Event{agent: Find("vscode"), Tool: "mcp_git_hub_push"}).call(func(string) bool { return false }).Also {
		if n.Weak {
			weak = append(weak, n.Text)
		}
	}
	if want := []string{"hub_push", "git.hub_push", "push", "git_hub.push"}; !slices.Equal(weak, want) {
		t.Errorf("%q, want %q", weak, want)
	}
}

// TestProxiedToolNames: only a call with a name of the proxy is left to the proxy.
func TestProxiedToolNames(t *testing.T) {
	for event, want := range map[string]bool{
		`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"mcp__petrigate__push"}`:                                               true,
		`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"mcp__petrigate__push","mcp_server":{"name":"petrigate"}}`:             true,
		`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"mcp__petrigate__evil__push","mcp_server":{"name":"petrigate__evil"}}`: false,
		`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"Bash","mcp_server":{"name":"petrigate"}}`:                             false,
		`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"mcp__petrigate2__push"}`:                                              false,
		`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"mcp__Petrigate__push"}`:                                               false,
		`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"petrigate"}`:                                                          false,
	} {
		e, err := Find("claude-code").Read([]byte(event))
		if err != nil {
			t.Fatal(err)
		}
		if got := through(e, "petrigate", offersAll); got != want {
			t.Errorf("%s: %v", event, got)
		}
	}
}

// TestSplitNames: if the name of an MCP tool can be split in several ways, the call comes through
// the proxy if the agent names the server, or if the proxy offers that tool.
func TestSplitNames(t *testing.T) {
	offers := func(name string) bool { return name == "push" || name == "git__log" }
	for _, c := range []struct {
		tool, said, server string
		want               bool
	}{
		{"mcp__petrigate__evil__push", "", "petrigate", false}, // of a server petrigate__evil
		{"mcp__petrigate___push", "", "petrigate", false},      // of a server petrigate_
		{"mcp__petrigate__git__log", "", "petrigate", true},
		{"mcp__petrigate__git__rest", "petrigate", "petrigate", false}, // the proxy offers no such tool
		{"mcp__petrigate__git__log", "petrigate__git", "petrigate", false},
		{"mcp__my__gate__push", "", "my__gate", true},
		{"mcp__my__gate__push", "my__gate", "my__gate", true},
		{"mcp__my__gate__other", "", "my__gate", false},
	} {
		event := `{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"` + c.tool + `","mcp_server":{"name":"` + c.said + `"}}`
		e, err := Find("claude-code").Read([]byte(event))
		if err != nil {
			t.Fatal(err)
		}
		if got := through(e, c.server, offers); got != c.want {
			t.Errorf("%s of %q: %v", c.tool, c.said, got)
		}
	}
}

// TestDenyIsNeverAQuestion: a refusal is valid in the format of each agent for any text, and is never a question.
func TestDenyIsNeverAQuestion(t *testing.T) {
	for agent, want := range map[string]string{
		"claude-code": `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a \"b\""}}`,
		"codex":       `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a \"b\""}}`,
		"gemini-cli":  `{"decision":"deny","reason":"a \"b\""}`,
		"cursor":      `{"permission":"deny","user_message":"petrigate: a \"b\"","agent_message":"a \"b\""}`,
		"vscode":      `{"permissionDecision":"deny","permissionDecisionReason":"a \"b\"","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a \"b\""}}`,
	} {
		got := Find(agent).Deny("", `a "b"`)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%s: %s", agent, got)
		}
	}
	if Find("clod") != nil {
		t.Error("an agent that nobody knows")
	}
}

// FuzzRead: an event without an error has a session, and its arguments are an object.
func FuzzRead(f *testing.F) {
	for _, c := range documented {
		f.Add(c.agent, []byte(c.event))
	}
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		a := Find(name)
		if a == nil {
			return
		}
		e, err := a.Read(body)
		if err != nil || e.Ignored() {
			return
		}
		if e.Session == "" || !json.Valid(e.Args) || e.Args[0] != '{' && e.Args[0] != ' ' {
			t.Errorf("%+v", e)
		}
		if e.kind == agenttool.BeforeCall && !validTool(e.Tool) {
			t.Errorf("%+v", e)
		}
	})
}

// TestEmptyServerName: a server without a name, for example from an unset variable, does not match any
// call.
func TestEmptyServerName(t *testing.T) {
	for agent, tool := range map[string]string{"claude-code": "Bash", "vscode": "mcp__git_push"} {
		e, err := Find(agent).Read([]byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"t","tool_name":"` + tool + `","tool_input":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		if through(e, "", offersAll) {
			t.Errorf("%s of %s is taken for a call that comes through the proxy", tool, agent)
		}
	}
}
