package front_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

func pipeSite(t *testing.T) *proxytest.Site {
	t.Helper()
	return proxytest.Start(t, proxytest.Setup{
		Rules: hookRules, Server: testserver.Options{Tools: testserver.Attack()[:1]},
		Change: func(o *proxy.Options) { o.Pipefail = true },
	})
}

const (
	piped       = `{"command":"go test ./... | tail","timeout":5}`
	pipedToo    = `{"command":"set -o pipefail; go test ./... | tail","timeout":5}`
	goPush      = `{"command":"git push"}`
	changed     = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":` + pipedToo + `}}`
	withoutTest = "(publish) requires a successful call to unit-test first"
)

// before sends an event of Claude Code before a call, and fails if the answer differs.
func before(s *proxytest.Site, tool, args, id, want string) {
	s.T.Helper()
	if status, got := hook(s, "claude-code", event("PreToolUse", tool, args, id, "")); status != http.StatusOK || got != want {
		s.T.Errorf("%s: %d %s, want %s", args, status, got, want)
	}
}

// TestHookPipefail: a test whose pipe hides its failure runs under set -o pipefail, without
// answering the agent's permission prompt; the changed call is recorded and settled.
func TestHookPipefail(t *testing.T) {
	s := pipeSite(t)
	before(s, "Bash", piped, "t1", changed)
	before(s, "Bash", piped, "t1", changed) // two files have the hook
	ended(s, "PostToolUseFailure", "Bash", pipedToo, "t1", `,"error":"exit status 1"`)
	if why := asks(s, "Bash", goPush, "t2"); !strings.Contains(why, withoutTest) {
		t.Errorf("a test that failed has counted: %q", why)
	}
	before(s, "Bash", piped, "t3", changed)
	ended(s, "PostToolUse", "Bash", pipedToo, "t3", `,"tool_response":{"stdout":"ok"}`)
	before(s, "Bash", goPush, "t4", "{}")
	before(s, "Bash", `{"command":"ls | tail"}`, "t5", "{}")
	before(s, "Bash", `{"command":"go test ./... | tail","run_in_background":true}`, "t6", "{}")
	if why := asks(s, "Bash", `{"command":"git push | cat"}`, "t7"); !strings.Contains(why, withoutTest) {
		t.Errorf("%q", why)
	}
	want := fmt.Sprintf("%x", sha256.Sum256([]byte(pipedToo)))
	for _, d := range s.Records.Decisions("allow")[:2] {
		if d.Arguments != want {
			t.Errorf("on record is %s, want %s", d.Arguments, want)
		}
	}
}

// TestHookPipefailIgnored: if the agent runs the script unchanged, its success proves nothing.
func TestHookPipefailIgnored(t *testing.T) {
	s := pipeSite(t)
	before(s, "Bash", piped, "t1", changed)
	if why := asks(s, "Bash", `{"command":"go test ./... | tail; rm -rf /"}`, "t1"); !strings.Contains(why, "another call has the same id") {
		t.Errorf("%q", why)
	}
	ended(s, "PostToolUse", "Bash", piped, "t1", `,"tool_response":{"stdout":"ok"}`)
	if why := asks(s, "Bash", goPush, "t2"); !strings.Contains(why, withoutTest) {
		t.Errorf("a test whose end is hidden has counted: %q", why)
	}
}

// TestHookPipefailAgents: agents get the change in their own form, or not at all.
func TestHookPipefailAgents(t *testing.T) {
	gemini := func(name, cwd, command, more string) string {
		return `{"session_id":"g1","cwd":"` + cwd + `","hook_event_name":"` + name + `","tool_name":"run_shell_command","tool_input":{"command":"` + command + `"}` + more + `}`
	}
	s := pipeSite(t)
	for _, c := range []struct{ agent, event, want string }{
		{"gemini-cli", gemini("BeforeTool", "/x", "go test ./... | tail", ""), `{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"set -o pipefail; go test ./... | tail"}}}`},
		{"gemini-cli", gemini("AfterTool", "/x", "set -o pipefail; go test ./... | tail", `,"tool_response":{"llmContent":"Output: ok\nProcess Group PGID: 7"}`), "{}"},
		{"gemini-cli", gemini("BeforeTool", "/x", "git push", ""), "{}"},
		{"gemini-cli", gemini("BeforeTool", `C:\\x`, "go test ./... | tail", ""), "{}"}, // PowerShell runs it
		{"gemini-cli", `{"session_id":"g2","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"go test ./... | tail"}}`, "{}"},
		{"codex", `{"session_id":"c1","turn_id":"t","cwd":"/x","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"go test ./... | tail"}}`, "{}"},
		{"cursor", `{"conversation_id":"c","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"go test ./... | tail"},"tool_use_id":"1"}`, "{}"},
		{"vscode", `{"session_id":"v","cwd":"/x","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"go test ./... | tail"}}`, "{}"},
	} {
		if status, got := hook(s, c.agent, c.event); status != http.StatusOK || got != c.want {
			t.Errorf("%s %s: %d %s, want %s", c.agent, c.event, status, got, c.want)
		}
	}
}
