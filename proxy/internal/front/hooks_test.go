package front_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// An event is a hook event of Claude Code, with the members that tests set.
func event(name, tool, args, id, more string) string {
	return fmt.Sprintf(`{"session_id":"0d6c","transcript_path":"/home/ada/.claude/projects/x/0d6c.jsonl","cwd":"/home/ada/x","permission_mode":"default",`+
		`"hook_event_name":%q,"tool_name":%q,"tool_input":%s,"tool_use_id":%q%s}`, name, tool, args, id, more)
}

// hook sends an event over HTTP, and returns the status and the answer.
func hook(s *proxytest.Site, agent, event string) (status int, answer string) {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.HTTP.URL+"/hook/"+agent, strings.NewReader(event))
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+proxytest.Token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// asks sends an event of Claude Code before a call, and returns why the call is refused, or an
// empty string.
func asks(s *proxytest.Site, tool, args, id string) string {
	s.T.Helper()
	status, answer := hook(s, "claude-code", event("PreToolUse", tool, args, id, ""))
	return denial(s, status, answer)
}

func denial(s *proxytest.Site, status int, answer string) string {
	s.T.Helper()
	var a struct {
		HookSpecificOutput struct{ HookEventName, PermissionDecision, PermissionDecisionReason string }
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil || status != http.StatusOK {
		s.T.Fatalf("%d %s", status, answer)
	}
	out := a.HookSpecificOutput
	if answer != "{}" && (out.HookEventName != "PreToolUse" || out.PermissionDecision != "deny" || out.PermissionDecisionReason == "") {
		s.T.Fatalf("no answer of a hook: %s", answer)
	}
	return out.PermissionDecisionReason
}

// ended sends an event of Claude Code after a call.
func ended(s *proxytest.Site, name, tool, args, id, more string) {
	s.T.Helper()
	if status, answer := hook(s, "claude-code", event(name, tool, args, id, more)); status != http.StatusOK || answer != "{}" {
		s.T.Fatalf("%d %s", status, answer)
	}
}

const hookRules = `map bash.command runs go test as unit-test
map bash.command runs git push as publish
require unit-test before publish
limit Write to 1 per session
block Edit
require human-approval before WebFetch
`

// TestHooks: the rules apply to calls of an agent's own tools, which are recorded.
func TestHooks(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: hookRules, Server: testserver.Options{Tools: testserver.Attack()[:1]}})
	const test, push = `{"command":"go test ./..."}`, `{"command":"git push"}`
	refused := func(want, tool, args, id string) {
		t.Helper()
		if got := asks(s, tool, args, id); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s %s: %q, want %q", tool, args, got, want)
		}
	}
	refused("Edit is blocked", "Edit", `{"file_path":"a"}`, "t0")
	refused("Bash `git push` (publish) requires a successful call to unit-test first", "Bash", push, "t1")
	refused("", "Bash", test, "t2")
	ended(s, "PostToolUseFailure", "Bash", test, "t2", `,"error":"exit status 1"`)
	refused("(publish) requires", "Bash", push, "t3")
	refused("", "Bash", `{"command":"go test ./...","run_in_background":true}`, "t4")
	ended(s, "PostToolUse", "Bash", `{"command":"go test ./...","run_in_background":true}`, "t4", `,"tool_response":{"stdout":""}`)
	refused("(publish) requires", "Bash", push, "t5")
	refused("", "Bash", test, "t6")
	ended(s, "PostToolUse", "Bash", `{"command":"true"}`, "t6", `,"tool_response":{"stdout":"ok"}`) // other arguments
	refused("(publish) requires", "Bash", push, "t7")
	refused("", "Bash", test, "t8")
	ended(s, "PostToolUse", "Bash", test, "t8", `,"tool_response":{"stdout":"ok","interrupted":false}`)
	refused("", "Bash", push, "t9")
	refused("", "Write", `{}`, "t10")
	refused("has reached its limit", "Write", `{}`, "t11")

	d := s.Records.Decisions("allow")
	if len(d) != 6 || d[0].Tool != "Bash" || d[0].Principal != "token" {
		t.Errorf("%+v", d)
	}
	var outcomes []string
	for _, r := range s.Records.Outcomes() {
		outcomes = append(outcomes, r.Outcome)
	}
	if got := strings.Join(outcomes, " "); !strings.Contains(got, "failure unknown") || !strings.Contains(got, "success") {
		t.Errorf("%s", got)
	}
	if n := len(s.Records.Decisions("refuse")); n != 6 {
		t.Errorf("%d refusals are on record", n)
	}
}

// TestHookNamesake: if a server has a tool of the same name too, the agent's tool restricts and
// does not count as evidence.
func TestHookNamesake(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: hookRules})
	const test, push = `{"command":"go test ./..."}`, `{"command":"git push"}`
	if why := asks(s, "Bash", test, "t1"); why != "" {
		t.Fatal(why)
	}
	ended(s, "PostToolUse", "Bash", test, "t1", `,"tool_response":{"stdout":"ok"}`)
	if why := asks(s, "Bash", push, "t2"); !strings.Contains(why, "(publish) requires") {
		t.Errorf("%q", why)
	}
}

// TestHookBorrowed: a server's tool with the name of an agent's own tool does not count as
// evidence for the agent's tool, beginning with the agent's first event, before the call.
func TestHookBorrowed(t *testing.T) {
	for name, rules := range map[string]string{
		"the name of scripts": "map bash.command runs go test as unit-test\nmap Bash.command runs git push as publish\nrequire unit-test before publish",
		"the name of a tool":  "map claude-code.Bash.command runs go test as unit-test\nmap Bash.command runs git push as publish\nrequire unit-test before publish",
	} {
		t.Run(name, func(t *testing.T) {
			s := proxytest.Start(t, proxytest.Setup{
				Rules: rules, Server: testserver.Options{Tools: []testserver.Tool{proxytest.PlainTool("bash"), proxytest.PlainTool("claude-code.Bash")}},
				Change: func(o *proxy.Options) { o.Session = proxy.SessionWay{By: "principal"} },
			})
			const test, push = `{"command":"go test ./..."}`, `{"command":"git push"}`
			c := s.Connect(proxytest.Leg{HTTP: true}, "")
			for _, tool := range []string{"bash", "claude-code.Bash"} {
				exposed := proxytest.ExposedName(t, s, "up."+tool)
				if why := asks(s, "mcp__petrigate__"+exposed, test, tool); why != "" {
					t.Fatal(why)
				}
				c.Must(exposed, test)
			}
			if why := asks(s, "Bash", push, "t1"); !strings.Contains(why, "(publish) requires") {
				t.Errorf("the server has proved it: %q", why)
			}
		})
	}
}

// TestHookShares: if sessions are those of a principal, the agent's own tools and its MCP tools
// share one, and calls of one count for the other.
func TestHookShares(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{
		Rules:  "map Bash.command runs go test as unit-test\nrequire unit-test before push\nrequire safe before Write",
		Change: func(o *proxy.Options) { o.Session = proxy.SessionWay{By: "principal"} },
	})
	const test = `{"command":"go test ./..."}`
	c := s.Connect(proxytest.Leg{HTTP: true}, "")
	c.Refuses("push", `{}`, "blocked")
	if why := asks(s, "Bash", test, "t1"); why != "" {
		t.Fatal(why)
	}
	c.Refuses("push", `{}`, "blocked")
	ended(s, "PostToolUse", "Bash", test, "t1", `,"tool_response":{"stdout":"ok"}`)
	c.Must("push", `{}`)
	if why := asks(s, "Write", `{}`, "t2"); !strings.Contains(why, "requires a successful call to safe") {
		t.Error(why)
	}
	c.Must("safe", `{}`)
	if why := asks(s, "Write", `{}`, "t3"); why != "" {
		t.Error(why)
	}
	if n := len(s.Proxy.Sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// agentEvents are the agents with supported hooks: the event before a call, and the names of its
// members.
var agentEvents = []struct {
	agent, before, name, session string
}{
	{"claude-code", "PreToolUse", "hook_event_name", "session_id"},
	{"codex", "PreToolUse", "hook_event_name", "session_id"},
	{"gemini-cli", "BeforeTool", "hook_event_name", "session_id"},
	{"cursor", "preToolUse", "hook_event_name", "conversation_id"},
	{"vscode", "PreToolUse", "hookEventName", "sessionId"},
}

// tells sends an event to the hook of an agent, and returns why the call is refused.
func tells(s *proxytest.Site, agent, event string) string {
	s.T.Helper()
	reply, err := s.Proxy.Hooks.Serve(s.T.Context(), proxy.HookEvent{Agent: agent, Principal: "local", Event: []byte(event)})
	if err != nil {
		s.T.Fatal(err)
	}
	if denies := bytes.Contains(reply.Output, []byte(`"deny"`)); denies != (reply.Denied != "") || !denies && string(reply.Output) != "{}" {
		s.T.Errorf("%s: %+v", agent, reply)
	}
	return reply.Denied
}

// TestHooksTogether: concurrent calls do not exceed a limit of one, and a call that an agent
// reports twice is one call, if calls have ids.
func TestHooksTogether(t *testing.T) {
	for _, a := range agentEvents {
		t.Run(a.agent, func(t *testing.T) {
			s := proxytest.Start(t, proxytest.Setup{Rules: hookRules})
			const n = 16
			passed := make(chan string, 2*n)
			var work sync.WaitGroup
			for i := range n {
				for range 2 {
					work.Go(func() {
						if tells(s, a.agent, fmt.Sprintf(`{%q:%q,%q:"s","tool_name":"Write","tool_input":{"n":%d},"tool_use_id":"t%d"}`, a.name, a.before, a.session, i, i)) == "" {
							passed <- fmt.Sprint("t", i)
						}
					})
				}
			}
			work.Wait()
			close(passed)
			ids := map[string]bool{}
			for id := range passed {
				ids[id] = true
			}
			if len(ids) != 1 || len(s.Records.Decisions("allow")) != 1 {
				t.Errorf("%d calls passed, %d are on record", len(ids), len(s.Records.Decisions("allow")))
			}
		})
	}
}

// TestHookHostile: a malformed event before a call refuses the call, for each agent, and the next
// event is served.
func TestHookHostile(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block nothing-else"})
	for _, a := range agentEvents {
		whole := fmt.Sprintf(`{%q:%q,%q:"s1","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u1","turn_id":"t"}`, a.name, a.before, a.session)
		for name, change := range map[string][2]string{
			"the session is a number":  {`"s1"`, `5`},
			"the session is a list":    {`"s1"`, `["s1"]`},
			"the session is long":      {`"s1"`, `"` + strings.Repeat("s", 5000) + `"`},
			"the tool is a number":     {`"Bash"`, `5`},
			"the tool is an object":    {`"Bash"`, `{"name":"Bash"}`},
			"the arguments are a list": {`{"command":"ls"}`, `[1]`},
			"the arguments are no":     {`{"command":"ls"}`, `7`},
			"a text with two fields":   {`{"command":"ls"}`, `"{\"a\":1,\"a\":2}"`},
			"two fields, one escaped":  {`"ls"`, `"ls","comm\u0061nd":"rm"`},
			"two tools, one escaped":   {`"turn_id"`, `"tool_n\u0061me":"Read","turn_id"`},
			"two events":               {`"turn_id"`, `"` + a.name + `":"Notification","turn_id"`},
			"another event":            {a.before, a.before + "Batch"},
			"no event":                 {`"` + a.before + `"`, `3`},
			"a deep one":               {`"ls"`, strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000)},
			"a long turn":              {`"t"`, `"` + strings.Repeat("t", 1<<20) + `"`},
			"more after it":            {`"t"}`, `"t"}{}`},
			"no UTF-8":                 {`"ls"`, "\"l\xff\""},
			"half a character":         {`"ls"`, `"\ud800"`},
			"no JSON":                  {`"ls"`, `NaN`},
			"too much":                 {`"ls"`, `"` + strings.Repeat("x", 5<<20) + `"`},
			"far too much":             {`"ls"`, `"` + strings.Repeat("x", 12<<20) + `"`},
			"the id is a number":       {`"u1"`, `5`},
			"a long folder":            {`"turn_id"`, `"cwd":"` + strings.Repeat("x", 1<<20) + `","turn_id"`},
			"the id is long":           {`"u1"`, `"` + strings.Repeat("u", 5000) + `"`},
		} {
			event := strings.Replace(whole, change[0], change[1], 1)
			if event == whole {
				t.Fatalf("%s: nothing changes", name)
			}
			if why := tells(s, a.agent, event); !strings.HasPrefix(why, "The call was not made: ") || len(why) > 1000 {
				t.Errorf("%s: %s: %.1500q", a.agent, name, why)
			}
		}
		if why := tells(s, a.agent, whole); why != "" {
			t.Errorf("%s: afterwards: %s", a.agent, why)
		}
	}
	if n := len(s.Records.Decisions("")); n != len(agentEvents) {
		t.Errorf("%d decisions", n)
	}
}

// TestHookOrder: events out of order, repeated, or of another agent settle and admit nothing.
func TestHookOrder(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit Write to 1 at once"})
	tells := func(agent, name, id, args string) string {
		t.Helper()
		return tells(s, agent, event(name, "Write", args, id, `,"tool_response":{}`))
	}
	must := func(want, got string) {
		t.Helper()
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	must("", tells("claude-code", "PostToolUse", "a", `{}`)) // no call has begun
	must("", tells("claude-code", "PreToolUse", "a", `{}`))
	must("", tells("claude-code", "PreToolUse", "a", `{}`)) // it is the same call
	must("another call has the same id", tells("claude-code", "PreToolUse", "a", `{"n":1}`))
	must("", tells("codex", "PostToolUse", "a", `{}`)) // the event of another agent
	if n := len(s.Records.Outcomes()); n != 0 {
		t.Errorf("%d calls have ended", n)
	}
	must("at once", tells("claude-code", "PreToolUse", "b", `{}`)) // a is still in flight, or its state is unknown
	must("a call that has ended", tells("claude-code", "PreToolUse", "a", `{}`))
	must("", tells("claude-code", "PostToolUse", "a", `{}`))
	must("", tells("claude-code", "PostToolUse", "a", `{}`))
	must("", tells("claude-code", "PreToolUse", "a", `{}`)) // the same id again, for a call of its own
	must("at once", tells("claude-code", "PreToolUse", "c", `{}`))
	must("", tells("claude-code", "PostToolUse", "b", `{}`)) // which was refused
	must("at once", tells("claude-code", "PreToolUse", "d", `{}`))
	if n := len(s.Records.Decisions("allow")); n != 2 {
		t.Errorf("%d calls have passed", n)
	}
}

// TestHookOfProxied: a tool that comes through the proxy is counted there, once, and another tool
// is restricted like a proxied one.
func TestHookOfProxied(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Session = proxy.SessionWay{By: "principal"} }})
	c := s.Connect(proxytest.Leg{HTTP: true}, "")
	for i := range 3 {
		if why := asks(s, "mcp__petrigate__push", `{}`, fmt.Sprint("t", i)); why != "" {
			t.Error(why)
		}
		c.Must("push", `{}`)
	}
	if why := asks(s, "mcp__petrigate__push", `{}`, "t3"); why != "" {
		t.Error(why)
	}
	c.Refuses("push", `{}`, "blocked")
	if d := s.Records.Decisions("allow"); len(d) != 3 {
		t.Errorf("%d decisions", len(d))
	}
	for _, tool := range []string{"mcp__up__danger", "mcp__other__danger", "danger"} {
		if why := asks(s, tool, `{}`, tool); !strings.Contains(why, "blocked") {
			t.Errorf("%s: %q", tool, why)
		}
	}
}

// TestHookOfNamesake: N6. A server that an agent reaches directly under the name of the proxy
// bypasses the gate for no tool that the proxy does not offer. A call left to the proxy is
// recorded, and its absence there is reported.
func TestHookOfNamesake(t *testing.T) {
	for agent, c := range map[string]struct{ before, after string }{
		"claude-code": {
			`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"TOOL","tool_name":"mcp__petrigate__TOOL","tool_input":{}}`,
			`{"session_id":"a","hook_event_name":"PostToolUse","tool_use_id":"TOOL","tool_name":"mcp__petrigate__TOOL","tool_input":{},"tool_response":{}}`,
		},
		"codex": {
			`{"session_id":"a","hook_event_name":"PreToolUse","tool_use_id":"TOOL","tool_name":"mcp__petrigate__TOOL","tool_input":{}}`,
			`{"session_id":"a","hook_event_name":"PostToolUse","tool_use_id":"TOOL","tool_name":"mcp__petrigate__TOOL","tool_input":{},"tool_response":{}}`,
		},
		"gemini-cli": {
			`{"session_id":"a","hook_event_name":"BeforeTool","tool_name":"mcp_petrigate_TOOL","tool_input":{},"mcp_context":{"server_name":"petrigate","tool_name":"TOOL"}}`,
			`{"session_id":"a","hook_event_name":"AfterTool","tool_name":"mcp_petrigate_TOOL","tool_input":{},"tool_response":{},"mcp_context":{"server_name":"petrigate","tool_name":"TOOL"}}`,
		},
	} {
		t.Run(agent, func(t *testing.T) {
			p, err := gate.NewPolicy([]gate.Net{{Name: "known", Places: []string{"a"}, Free: []string{"push"}}}, gate.PolicyOptions{Deny: true})
			if err != nil {
				t.Fatal(err)
			}
			var log lockedBuffer
			s := proxytest.Start(t, proxytest.Setup{Policy: p, Change: func(o *proxy.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) }})
			said := func(event, tool string) string {
				_, answer := hook(s, agent, strings.ReplaceAll(event, "TOOL", tool))
				return answer
			}
			if answer := said(c.before, "wipe_disk"); !strings.Contains(answer, "deny") {
				t.Errorf("a tool that the proxy does not offer passes: %s", answer)
			}
			if d := s.Records.Decisions("refuse"); len(d) != 1 {
				t.Errorf("on record: %+v", d)
			}
			missing := func(n int) {
				t.Helper()
				on := s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "missing" })
				if got := strings.Count(log.String(), "did not reach it"); len(on) != n || got != n {
					t.Errorf("%d are missing on record and %d in the log, want %d", len(on), got, n)
				}
			}
			client := s.Connect(proxytest.Legs()[1], "")
			if answer := said(c.before, "push"); answer != "{}" {
				t.Errorf("a tool of the proxy is decided on twice: %s", answer)
			}
			client.Must("push", `{}`)
			said(c.after, "push")
			missing(0)
			said(c.before, "push")
			said(c.after, "push")
			missing(1)
			if on := s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "left" }); len(on) != 2 {
				t.Errorf("%d are left on record", len(on))
			}
		})
	}
}

// TestHookApproval: a person is asked through the channels of MCP calls. The agent is told to come
// back, and never to ask.
func TestHookApproval(t *testing.T) {
	of := proxytest.OperatorSetup(proxytest.ParkAtOnce)
	of.Rules = hookRules
	s := proxytest.Start(t, of)
	if why := asks(s, "WebFetch", `{"url":"a"}`, "t1"); !strings.Contains(why, "A person has been asked (approval ap_") {
		t.Fatal(why)
	}
	q := s.AwaitPending(1)[0]
	if q.Tool != "WebFetch" || q.Upstream != "claude-code" || string(q.Arguments) != `{"url":"a"}` {
		t.Errorf("%+v", q)
	}
	if err := s.Proxy.Resolve(q.ID, true, "ada", ""); err != nil {
		t.Fatal(err)
	}
	if why := asks(s, "WebFetch", `{"url":"a"}`, "t2"); why != "" {
		t.Error(why)
	}
	if why := asks(s, "WebFetch", `{"url":"a"}`, "t3"); !strings.Contains(why, "A person has been asked") {
		t.Errorf("an approval is good twice: %q", why)
	}
	if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, false, "ada", "no"); err != nil {
		t.Fatal(err)
	}
	if why := asks(s, "WebFetch", `{"url":"a"}`, "t4"); !strings.Contains(why, "A person denied WebFetch") {
		t.Error(why)
	}
}

// TestHookApprovalPlace: a person sees the agent's directory, and the approval is for a call there.
func TestHookApprovalPlace(t *testing.T) {
	of := proxytest.OperatorSetup(proxytest.ParkAtOnce)
	of.Rules = "require human-approval before Bash"
	s := proxytest.Start(t, of)
	in := func(folder, id string) string {
		status, answer := hook(s, "claude-code", strings.Replace(event("PreToolUse", "Bash", `{"command":"make release"}`, id, ""), "/home/ada/x", folder, 1))
		return denial(s, status, answer)
	}
	if why := in("/home/ada/x", "t1"); !strings.Contains(why, "A person has been asked") {
		t.Fatal(why)
	}
	q := s.AwaitPending(1)[0]
	if string(q.Beside) != `{"cwd":"/home/ada/x"}` || string(q.Arguments) != `{"command":"make release"}` {
		t.Errorf("%+v", q)
	}
	if err := s.Proxy.Resolve(q.ID, true, "ada", ""); err != nil {
		t.Fatal(err)
	}
	if why := in("/home/ada/other", "t2"); !strings.Contains(why, "A person has been asked") {
		t.Errorf("the approval is good elsewhere: %q", why)
	}
	if why := in("/home/ada/x", "t3"); why != "" {
		t.Error(why)
	}
}

// TestHookApprovalHeld: a call waits for the answer, and no person can be asked if only the client
// could ask.
func TestHookApprovalHeld(t *testing.T) {
	of := proxytest.OperatorSetup(time.Hour)
	of.Rules = hookRules
	s := proxytest.Start(t, of)
	said := make(chan string)
	go func() { said <- asks(s, "WebFetch", `{}`, "t1") }()
	q := s.AwaitPending(1)[0]
	if err := s.Proxy.Resolve(q.ID, true, "ada", ""); err != nil {
		t.Fatal(err)
	}
	if why := <-said; why != "" {
		t.Error(why)
	}
	s = proxytest.Start(t, proxytest.Setup{Rules: hookRules})
	if why := asks(s, "WebFetch", `{}`, "t1"); !strings.Contains(why, "there is no one to ask") {
		t.Error(why)
	}
}

// TestHookWithoutEnd: if the end of a call is not reported, its outcome is unknown, and the tokens
// that it took stay taken.
func TestHookWithoutEnd(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit Write to 1 at once"})
	unknown := func(n int) {
		t.Helper()
		got := 0
		for _, r := range s.Records.Outcomes() {
			if r.Outcome == "unknown" {
				got++
			}
		}
		if got != n {
			t.Errorf("%d calls are unknown, want %d", got, n)
		}
	}
	if why := asks(s, "Write", `{}`, "t1"); why != "" {
		t.Fatal(why)
	}
	if why := asks(s, "Write", `{}`, "t2"); why == "" {
		t.Error("a second one passes")
	}
	unknown(1)
	ended(s, "PostToolUse", "Write", `{}`, "t1", `,"tool_response":{}`)
	if why := asks(s, "Write", `{}`, "t3"); why != "" {
		t.Errorf("what ended late still holds: %s", why)
	}
	hook(s, "claude-code", `{"session_id":"0d6c","hook_event_name":"SessionEnd","reason":"exit"}`)
	unknown(2)
}

// TestHookDoubt: an unreadable event refuses a call, and moves nothing.
func TestHookDoubt(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block nothing-else"})
	before := s.State()
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for name, raw := range map[string]string{
		"nothing": ``, "no object": `[]`, "half": `{"hook_event_name":"PreToolUse"`, "no event": `{"session_id":"a","tool_name":"Bash"}`,
		"no session": `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`,
		"no id":      event("PreToolUse", "Bash", `{}`, "", ""),
		"no tool":    event("PreToolUse", "", `{}`, "t", ""),
		"odd tool":   event("PreToolUse", "Ba\u202esh", `{}`, "t", ""),
		"long tool":  event("PreToolUse", strings.Repeat("a", 201), `{}`, "t", ""),
		"two tools":  `{"hook_event_name":"PreToolUse","session_id":"a","tool_name":"Read","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`,
		"two events": `{"hook_event_name":"Stop","hook_event_name":"PreToolUse","session_id":"a","tool_name":"Bash","tool_input":{},"tool_use_id":"t"}`,
		"two fields": event("PreToolUse", "Bash", `{"command":"a","command":"b"}`, "t", ""),
		"a list":     event("PreToolUse", "Bash", `[]`, "t", ""),
		"a text":     event("PreToolUse", "Bash", `"{"`, "t", ""),
		"deep":       event("PreToolUse", "Bash", deep, "t", ""),
		"unknown":    event("PreToolUseBatch", "Bash", `{}`, "t", ""),
		"long id":    event("PreToolUse", "Bash", `{}`, strings.Repeat("a", 201), ""),
		"session":    strings.Replace(event("PreToolUse", "Bash", `{}`, "t", ""), "0d6c", "a\\u0000b", 1),
	} {
		reply, err := s.Proxy.Hooks.Serve(t.Context(), proxy.HookEvent{Agent: "claude-code", Principal: "local", Event: []byte(raw)})
		if err != nil || reply.Denied == "" || !bytes.Contains(reply.Output, []byte(`"deny"`)) || strings.Contains(reply.Denied, "\u202e") {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	for name, raw := range map[string]string{
		"of another kind": `{"hook_event_name":"Notification","session_id":"a"}`,
		"after nothing":   event("PostToolUse", "Bash", `{}`, "t", ""),
		"after, odd":      event("PostToolUse", "Ba sh", `{}`, "t", ""),
		"ends nothing":    `{"hook_event_name":"SessionEnd","session_id":"a"}`,
	} {
		reply, err := s.Proxy.Hooks.Serve(t.Context(), proxy.HookEvent{Agent: "claude-code", Principal: "local", Event: []byte(raw)})
		if err != nil || string(reply.Output) != "{}" || reply.Denied != "" {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	if len(s.Records.Decisions("")) != 0 {
		t.Errorf("something moved: %s, %s", before, s.State())
	}
	s.Records.Fail.Store(true)
	if why := asks(s, "Bash", `{}`, "t1"); !strings.Contains(why, "not made") {
		t.Errorf("a call passes off the record: %q", why)
	}
	s.Records.Fail.Store(false)
}

// TestHookDoorClosed: calls cannot be reported over HTTP unless the configuration allows it.
func TestHookDoorClosed(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: hookRules})
	handler, err := s.Proxy.Handler(proxy.Access{Addr: "127.0.0.1:1", Token: proxytest.Token})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1/hook/claude-code", strings.NewReader(event("PreToolUse", "Bash", `{}`, "t", "")))
	r.Header.Set("Authorization", "Bearer "+proxytest.Token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestHookPanic: a panic during the decision refuses the call.
func TestHookPanic(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block nothing-else"})
	s.Records.Panic.Store(true)
	defer s.Records.Panic.Store(false)
	if why := asks(s, "Bash", `{}`, "t1"); !strings.Contains(why, "not made") || strings.Contains(why, "secret") {
		t.Errorf("%q", why)
	}
}

// TestHookEventsPassGuard: events pass the guard of the endpoint.
func TestHookEventsPassGuard(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	for name, c := range map[string]struct {
		method, path, token, kind, origin string
		want                              int
	}{
		"no token":       {"POST", "/hook/claude-code", "", "application/json", "", 401},
		"another token":  {"POST", "/hook/claude-code", "x", "application/json", "", 401},
		"another site":   {"POST", "/hook/claude-code", proxytest.Token, "application/json", "http://evil.example", 403},
		"a form":         {"POST", "/hook/claude-code", proxytest.Token, "text/plain", "", 415},
		"a link":         {"GET", "/hook/claude-code", proxytest.Token, "application/json", "", 405},
		"no such agent":  {"POST", "/hook/clod", proxytest.Token, "application/json", "", 404},
		"no agent":       {"POST", "/hook/", proxytest.Token, "application/json", "", 404},
		"a known agent":  {"POST", "/hook/claude-code", proxytest.Token, "application/json", "", 200},
		"and its server": {"POST", "/hook/claude-code?server=gate", proxytest.Token, "application/json", "", 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, s.HTTP.URL+c.path, strings.NewReader(event("PreToolUse", "mcp__gate__danger", `{}`, name, "")))
		if err != nil {
			t.Fatal(err)
		}
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		r.Header.Set("Content-Type", c.kind)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s: %d %s", name, response.StatusCode, body)
		}
		if c.want == 200 && strings.Contains(c.path, "server=") != (string(body) == "{}") {
			t.Errorf("%s: %s", name, body)
		}
	}
	if len(s.Records.Decisions("allow")) != 0 {
		t.Error("something was decided")
	}
}

// TestHookOfDisconnectedAgent: an agent that disconnects while a person is asked has made no call.
func TestHookOfDisconnectedAgent(t *testing.T) {
	of := proxytest.OperatorSetup(time.Hour)
	of.Rules = hookRules
	s := proxytest.Start(t, of)
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan proxy.HookReply)
	go func() {
		reply, _ := s.Proxy.Hooks.Serve(ctx, proxy.HookEvent{Agent: "claude-code", Principal: "local", Event: []byte(event("PreToolUse", "WebFetch", `{}`, "t1", ""))})
		said <- reply
	}()
	s.AwaitPending(1)
	cancel()
	if reply := <-said; reply.Denied == "" {
		t.Errorf("%s", reply.Output)
	}
	if s.OpenCalls() != 0 || len(s.Records.Decisions("allow")) != 0 {
		t.Error("the call was made")
	}
}

// BenchmarkHook measures the events before and after a call over HTTP, and the same requests to a
// handler that does nothing.
func BenchmarkHook(b *testing.B) {
	o := proxy.Options{Policy: proxytest.PolicyOf(b, "limit Write to 1000000000 per session"), Recorder: &proxytest.Memory{}}
	p, err := proxy.New(o)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	gated := httptest.NewUnstartedServer(nil)
	if gated.Config.Handler, err = p.Handler(proxy.Access{Addr: gated.Listener.Addr().String(), Token: proxytest.Token, Hooks: true}); err != nil {
		b.Fatal(err)
	}
	gated.Start()
	defer gated.Close()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "{}")
	}))
	defer bare.Close()
	for name, server := range map[string]*httptest.Server{"bare": bare, "gated": gated} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				id := fmt.Sprint("t", i)
				tellHTTP(b, server, event("PreToolUse", "Write", `{"file_path":"/a","content":"b"}`, id, ""))
				tellHTTP(b, server, event("PostToolUse", "Write", `{"file_path":"/a","content":"b"}`, id, `,"tool_response":{"filePath":"/a"}`))
			}
		})
	}
}

// tellHTTP sends an event that must pass.
func tellHTTP(b *testing.B, server *httptest.Server, body string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/hook/claude-code", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+proxytest.Token)
	r.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(r)
	if err != nil {
		b.Fatal(err)
	}
	answer, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if string(answer) != "{}" {
		b.Fatalf("%s", answer)
	}
}
