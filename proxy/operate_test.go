package proxy_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestStatus: the status for operators is correct.
func TestStatus(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[0], proxytest.CanElicit)
	q := c.Asks("deploy", `{}`)
	status := s.Proxy.Status()
	if status.Clients != 1 || status.Sessions != 1 || status.Tools != 17 || status.Waiting != 1 || len(status.LeftOut) != 0 {
		t.Errorf("%+v", status)
	}
	if len(status.Upstreams) != 1 || status.Upstreams[0].State != "up" || status.Upstreams[0].Name != "up" || status.Upstreams[0].Protocol == "" {
		t.Errorf("%+v", status.Upstreams)
	}
	q.Answer(proxytest.Decline)
	if n := s.Proxy.Status().Waiting; n != 0 {
		t.Errorf("%d wait", n)
	}
}

// TestTools: the verdicts of a session are those of its nets now.
func TestTools(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[0], "")
	verdict := func(session, tool string) string {
		t.Helper()
		list, err := s.Proxy.Tools(session)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range list {
			if info.Exposed == tool && len(info.Nets) > 0 {
				return info.Nets[0].Verdict
			}
		}
		return ""
	}
	session := s.Proxy.Sessions()[0].ID
	if got, want := verdict("", "push"), verdict(session, "push"); got != want {
		t.Errorf("the only session is not the one that is meant: %q, want %q", got, want)
	}
	s.Connect(proxytest.Legs()[1], "")
	for range 3 {
		c.Must("push", `{}`)
	}
	for _, want := range []struct{ session, tool, verdict string }{
		{"", "push", "gated"}, {session, "push", "blocked"}, {session, "danger", "blocked"}, {session, "safe", ""}, {"", "delete", "blocked"},
	} {
		if got := verdict(want.session, want.tool); got != want.verdict {
			t.Errorf("%s in session %q: %q, want %q", want.tool, want.session, got, want.verdict)
		}
	}
	if _, err := s.Proxy.Tools("nonsense"); err == nil {
		t.Error("the tools of no session")
	}
}

// arguments holds the descriptions of tools whose arguments are used by a key, a sum, a map of a
// pattern, or equal calls in a row.
func arguments(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: `require backup before delete with same path
limit push to 10 of n per day
map e*.path /secret/ as secret
require human-approval before secret
limit echo, safe to 3 in a row
`})
	s.Connect(proxytest.Legs()[1], "").Must("echo", `{}`)
	list, err := s.Proxy.Tools("")
	if err != nil {
		t.Fatal(err)
	}
	depends := make(map[string]bool)
	for _, info := range list {
		depends[info.Exposed] = info.Depends
		if (info.Exposed == "echo" || info.Exposed == "safe") && strings.Contains(info.Says, "left") {
			t.Errorf("%s %s", info.Exposed, info.Says)
		}
	}
	for tool, want := range map[string]bool{"push": true, "delete": true, "safe": false, "deploy": false} {
		if depends[tool] != want {
			t.Errorf("%s depends on its arguments: %t", tool, depends[tool])
		}
	}
}

// TestToolsSayWhatBecomes: an operator sees the current verdict on a call: who is asked, what
// remains of limits, including shared ones, and the effect of shadow nets.
func TestToolsSayWhatBecomes(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: `limit push to 2 per session
limit safe to 1 per user
require human-approval before deploy
require backup before delete
block danger
shadow block read
shadow require human-approval before slow
shadow limit echo to 5 per session
map bash.command rm as wipe
block wipe
`})
	c := s.Connect(proxytest.Legs()[1], "")
	other := s.Connect(proxytest.Legs()[1], "")
	says := func(session string) map[string]proxy.ToolInfo {
		t.Helper()
		list, err := s.Proxy.Tools(session)
		if err != nil {
			t.Fatal(err)
		}
		tools := make(map[string]proxy.ToolInfo)
		for _, info := range list {
			tools[info.Exposed] = info
		}
		return tools
	}
	check := func(session string, want map[string][2]string) {
		t.Helper()
		tools := says(session)
		for tool, w := range want {
			if got := tools[tool]; got.Decision != w[0] || got.Says != w[1] || got.Session != session {
				t.Errorf("%s in %q: %s, %q of %q, want %s, %q", tool, session, got.Decision, got.Says, got.Session, w[0], w[1])
			}
		}
	}
	first := s.Proxy.Sessions()[0].ID
	check(first, map[string][2]string{
		"push":   {"allow", "passes, 2 left (test.rules:1:1)"},
		"safe":   {"allow", "passes, 1 left (test.rules:2:1)"},
		"deploy": {"ask", "asks a person (test.rules:3:1)"},
		"delete": {"refuse", "refused: delete requires a successful call to backup first. (test.rules:4:1)"},
		"danger": {"refuse", "refused: danger is blocked and cannot be called. (test.rules:5:1)"},
		"read":   {"allow", "passes; rules in shadow mode would refuse: read is blocked and cannot be called. (test.rules:6:1)"},
		"slow":   {"allow", "passes; rules in shadow mode would require approval"},
		"echo":   {"allow", "passes"},
		"backup": {"allow", "passes"},
		"bash":   {"allow", "depends on the arguments; without them: passes"},
	})
	c.Must("push", `{}`)
	c.Must("backup", `{}`)
	other.Must("safe", `{}`)
	s.SwitchNet("block-danger", false)
	check(first, map[string][2]string{
		"push": {"allow", "passes, 1 left (test.rules:1:1)"}, "delete": {"allow", "passes"}, "danger": {"allow", "passes"},
		"safe": {"refuse", "refused: safe has reached its limit of 1 call per user. (test.rules:2:1)"},
	})
	check("", map[string][2]string{ // a new session has the shared state
		"push": {"allow", "passes, 2 left (test.rules:1:1)"}, "danger": {"allow", "passes"},
		"safe": {"refuse", "refused: safe has reached its limit of 1 call per user. (test.rules:2:1)"},
	})
	arguments(t)
	if s.Proxy.Status().Shadow {
		t.Error("the policy is said to be in shadow")
	}
	shadowed := proxytest.Start(t, proxytest.Setup{Rules: "shadow block read\n"})
	if !shadowed.Proxy.Status().Shadow {
		t.Error("nothing is enforced, and that is not said")
	}
}

// TestWaitingOfASession: a call that waits for approval is counted in the list of sessions.
func TestWaitingOfASession(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "require human-approval before deploy\n"})
	c := s.Connect(proxytest.Legs()[0], proxytest.CanElicit)
	s.Connect(proxytest.Legs()[1], "")
	q := c.Asks("deploy", `{}`)
	if a, b := s.Proxy.Sessions()[0].Waiting, s.Proxy.Sessions()[1].Waiting; a+b != 1 {
		t.Errorf("%d and %d wait", a, b)
	}
	q.Answer(proxytest.Decline)
}

// TestReset: an operator resets a session, which is recorded, and not done if it cannot be
// recorded.
func TestReset(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 1 per session\n"})
		c := s.Connect(l, "")
		c.Must("push", `{}`)
		c.Refuses("push", `{}`, "blocked")
		session := s.Proxy.Sessions()[0]
		s.Records.Fail.Store(true)
		if err := s.Proxy.ResetSession(session.ID, proxy.Actor{Name: "ada"}); err == nil {
			t.Error("a reset that is not on record")
		}
		s.Records.Fail.Store(false)
		c.Refuses("push", `{}`, "blocked")
		if err := s.Proxy.ResetSession(session.ID, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		c.Must("push", `{}`)
		if n := len(s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "reset" && r.Actor == "ada" })); n != 1 {
			t.Errorf("%d records of the reset", n)
		}
		if err := s.Proxy.ResetSession("nonsense", proxy.Actor{Name: "ada"}); err == nil {
			t.Error("no session was reset")
		}
		if _, err := s.Proxy.Session("nonsense"); err == nil {
			t.Error("no session was shown")
		}
		if err := s.Proxy.SettleCall("nonsense", 1, true, proxy.Actor{Name: "ada"}); err == nil {
			t.Error("no call was settled")
		}
	})
}

// TestHugeQuestions: operators see pending approvals of any size. Lists and summaries render no
// question, and only a single one is shown in full.
func TestHugeQuestions(t *testing.T) {
	soak.Bulk(t)
	s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
	c := s.Connect(proxytest.Legs()[0], "")
	const n = 4
	for i := range n {
		c.Call("deploy", fmt.Sprintf(`{"n":%d,"a":"%s"}`, i, strings.Repeat("x", 3<<20)))
	}
	waiting := s.AwaitPending(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, list := s.Proxy.Status(), s.Proxy.Approvals()
	runtime.ReadMemStats(&after)
	if status.Waiting != n || len(list) != n {
		t.Errorf("%d wait, %d are listed", status.Waiting, len(list))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("it took %d bytes to list questions", took)
	}
	text, err := json.Marshal(list)
	if err != nil || len(text) > n<<10 {
		t.Errorf("the list has %d bytes, %v", len(text), err)
	}
	first := waiting[0]
	if first.Arguments != nil || first.Size < 3<<20 || first.Question != "" {
		t.Errorf("listed: %d bytes of arguments, of %d; question %.100q", len(first.Arguments), first.Size, first.Question)
	}
	whole, err := s.Proxy.Approval(first.ID)
	if err != nil || len(whole.Arguments) != first.Size || len(whole.Question) < first.Size || whole.SHA256 != first.SHA256 {
		t.Errorf("%v, %d bytes, a question of %d", err, len(whole.Arguments), len(whole.Question))
	}
	if _, err := s.Proxy.Approval("ap_NOTHING"); err == nil {
		t.Error("a question that there is not was shown")
	}
	if err := s.Proxy.Resolve(first.ID, false, "ada", ""); err != nil {
		t.Error(err)
	}
}

// TestOperatorOff: without the channel cli, an operator's answers do not count.
func TestOperatorOff(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[0], proxytest.CanElicit)
	q := c.Asks("deploy", `{}`)
	if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err == nil {
		t.Error("an operator answered who is none")
	}
	if r := q.Answer(proxytest.Decline); !r.IsError() {
		t.Errorf("%s", r.Raw)
	}
}

// TestLogs: log messages of a call go to the client that requested their level, whatever the
// families of client and upstream.
func TestLogs(t *testing.T) {
	isLog := func(m proxytest.Message) bool { return m.Method == "notifications/message" }
	for _, era := range []testserver.Revisions{testserver.Legacy, testserver.Modern} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			c := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: era}}).Connect(l, "")
			at := func(level string) {
				meta := `"io.modelcontextprotocol/logLevel":"` + level + `"`
				if !l.Modern {
					meta = ""
					c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"logging/setLevel","params":{"level":"` + level + `"}}`))
				}
				c.Reply(c.CallWith("log", `{"n":3}`, meta, ""))
			}
			at("error")
			if l.Modern {
				c.Must("log", `{"n":3}`) // without a level there are no messages
			}
			if n := c.Mail.Count(isLog); n != 0 {
				t.Errorf("%d messages that nobody asked for: %s", n, c.Mail)
			}
			at("info")
			for range 3 {
				c.Await("a log message", isLog)
			}
			at("debug")
			for range 3 {
				c.Await("a log message", isLog)
			}
			if n := c.Mail.Count(isLog); n != 0 {
				t.Errorf("%d messages too many: %s", n, c.Mail)
			}
		})
	}
}

// TestOptions: options that cannot work are refused.
func TestOptions(t *testing.T) {
	for name, list := range map[string][]proxy.Upstream{
		"no name":   {{URL: "http://127.0.0.1:1"}},
		"one name":  {{Name: "a", URL: "http://127.0.0.1:1"}, {Name: "a", URL: "http://127.0.0.1:2"}},
		"no target": {{Name: "a"}},
		"both":      {{Name: "a", URL: "http://127.0.0.1:1", Command: "x"}},
	} {
		if p, err := proxy.New(proxy.Options{Upstreams: list}); err == nil {
			t.Errorf("%s: accepted", name)
			_ = p.Close()
		} else if strings.Contains(err.Error(), "failed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
