package proxy_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestStatus: the status for operators is correct.
func TestStatus(t *testing.T) {
	s := start(t, setup{})
	c := s.connect(legs()[0], canElicit)
	q := c.asks("deploy", `{}`)
	status := s.proxy.Status()
	if status.Clients != 1 || status.Sessions != 1 || status.Tools != 17 || status.Waiting != 1 || len(status.LeftOut) != 0 {
		t.Errorf("%+v", status)
	}
	if len(status.Upstreams) != 1 || status.Upstreams[0].State != "up" || status.Upstreams[0].Name != "up" || status.Upstreams[0].Protocol == "" {
		t.Errorf("%+v", status.Upstreams)
	}
	q.answer(decline)
	if n := s.proxy.Status().Waiting; n != 0 {
		t.Errorf("%d wait", n)
	}
}

// TestTools: the verdicts of a session are those of its nets now.
func TestTools(t *testing.T) {
	s := start(t, setup{})
	c := s.connect(legs()[0], "")
	verdict := func(session, tool string) string {
		t.Helper()
		list, err := s.proxy.Tools(session)
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
	session := s.proxy.Sessions()[0].ID
	if got, want := verdict("", "push"), verdict(session, "push"); got != want {
		t.Errorf("the only session is not the one that is meant: %q, want %q", got, want)
	}
	s.connect(legs()[1], "")
	for range 3 {
		c.must("push", `{}`)
	}
	for _, want := range []struct{ session, tool, verdict string }{
		{"", "push", "gated"}, {session, "push", "blocked"}, {session, "danger", "blocked"}, {session, "safe", ""}, {"", "delete", "blocked"},
	} {
		if got := verdict(want.session, want.tool); got != want.verdict {
			t.Errorf("%s in session %q: %q, want %q", want.tool, want.session, got, want.verdict)
		}
	}
	if _, err := s.proxy.Tools("nonsense"); err == nil {
		t.Error("the tools of no session")
	}
}

// arguments holds the descriptions of tools whose arguments are used by a key, a sum, a map of a
// pattern, or equal calls in a row.
func arguments(t *testing.T) {
	s := start(t, setup{rules: `require backup before delete with same path
limit push to 10 of n per day
map e*.path /secret/ as secret
require human-approval before secret
limit echo, safe to 3 in a row
`})
	s.connect(legs()[1], "").must("echo", `{}`)
	list, err := s.proxy.Tools("")
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
	s := start(t, setup{rules: `limit push to 2 per session
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
	c := s.connect(legs()[1], "")
	other := s.connect(legs()[1], "")
	says := func(session string) map[string]proxy.ToolInfo {
		t.Helper()
		list, err := s.proxy.Tools(session)
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
	first := s.proxy.Sessions()[0].ID
	check(first, map[string][2]string{
		"push":   {"allow", "passes, 2 left (test.rules:1:1)"},
		"safe":   {"allow", "passes, 1 left (test.rules:2:1)"},
		"deploy": {"ask", "asks a person (test.rules:3:1)"},
		"delete": {"refuse", "refused: delete requires a successful call to backup first. (test.rules:4:1)"},
		"danger": {"refuse", "refused: danger is blocked and cannot be called. (test.rules:5:1)"},
		"read":   {"allow", "passes; what is in shadow would refuse: read is blocked and cannot be called. (test.rules:6:1)"},
		"slow":   {"allow", "passes; what is in shadow would ask a person"},
		"echo":   {"allow", "passes"},
		"backup": {"allow", "passes"},
		"bash":   {"allow", "depends on the arguments; without them: passes"},
	})
	c.must("push", `{}`)
	c.must("backup", `{}`)
	other.must("safe", `{}`)
	s.switchNet("block-danger", false)
	check(first, map[string][2]string{
		"push": {"allow", "passes, 1 left (test.rules:1:1)"}, "delete": {"allow", "passes"}, "danger": {"allow", "passes"},
		"safe": {"refuse", "refused: safe has reached its limit of 1 call per user. (test.rules:2:1)"},
	})
	check("", map[string][2]string{ // a new session has the shared state
		"push": {"allow", "passes, 2 left (test.rules:1:1)"}, "danger": {"allow", "passes"},
		"safe": {"refuse", "refused: safe has reached its limit of 1 call per user. (test.rules:2:1)"},
	})
	arguments(t)
	if s.proxy.Status().Shadow {
		t.Error("the policy is said to be in shadow")
	}
	shadowed := start(t, setup{rules: "shadow block read\n"})
	if !shadowed.proxy.Status().Shadow {
		t.Error("nothing is enforced, and that is not said")
	}
}

// TestWaitingOfASession: a call that waits for approval is counted in the list of sessions.
func TestWaitingOfASession(t *testing.T) {
	s := start(t, setup{rules: "require human-approval before deploy\n"})
	c := s.connect(legs()[0], canElicit)
	s.connect(legs()[1], "")
	q := c.asks("deploy", `{}`)
	if a, b := s.proxy.Sessions()[0].Waiting, s.proxy.Sessions()[1].Waiting; a+b != 1 {
		t.Errorf("%d and %d wait", a, b)
	}
	q.answer(decline)
}

// TestReset: an operator resets a session, which is recorded, and not done if it cannot be
// recorded.
func TestReset(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "limit push to 1 per session\n"})
		c := s.connect(l, "")
		c.must("push", `{}`)
		c.refuses("push", `{}`, "blocked")
		session := s.proxy.Sessions()[0]
		s.records.setFail(true)
		if err := s.proxy.ResetSession(session.ID, proxy.Actor{Name: "ada"}); err == nil {
			t.Error("a reset that is not on record")
		}
		s.records.setFail(false)
		c.refuses("push", `{}`, "blocked")
		if err := s.proxy.ResetSession(session.ID, proxy.Actor{Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		c.must("push", `{}`)
		if n := len(s.records.matching(func(r record) bool { return r.Event == "reset" && r.Actor == "ada" })); n != 1 {
			t.Errorf("%d records of the reset", n)
		}
		if err := s.proxy.ResetSession("nonsense", proxy.Actor{Name: "ada"}); err == nil {
			t.Error("no session was reset")
		}
		if _, err := s.proxy.Session("nonsense"); err == nil {
			t.Error("no session was shown")
		}
		if err := s.proxy.SettleCall("nonsense", 1, true, proxy.Actor{Name: "ada"}); err == nil {
			t.Error("no call was settled")
		}
	})
}

// TestHugeQuestions: operators see pending approvals of any size. Lists and summaries render no
// question, and only a single one is shown in full.
func TestHugeQuestions(t *testing.T) {
	soak.Bulk(t)
	s := start(t, byOperator(time.Hour))
	c := s.connect(legs()[0], "")
	const n = 4
	for i := range n {
		c.call("deploy", fmt.Sprintf(`{"n":%d,"a":"%s"}`, i, strings.Repeat("x", 3<<20)))
	}
	waiting := s.pending(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, list := s.proxy.Status(), s.proxy.Approvals()
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
	whole, err := s.proxy.Approval(first.ID)
	if err != nil || len(whole.Arguments) != first.Size || len(whole.Question) < first.Size || whole.SHA256 != first.SHA256 {
		t.Errorf("%v, %d bytes, a question of %d", err, len(whole.Arguments), len(whole.Question))
	}
	if _, err := s.proxy.Approval("ap_NOTHING"); err == nil {
		t.Error("a question that there is not was shown")
	}
	if err := s.proxy.Resolve(first.ID, false, "ada", ""); err != nil {
		t.Error(err)
	}
}

// TestOperatorOff: without the channel cli, an operator's answers do not count.
func TestOperatorOff(t *testing.T) {
	s := start(t, setup{})
	c := s.connect(legs()[0], canElicit)
	q := c.asks("deploy", `{}`)
	if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err == nil {
		t.Error("an operator answered who is none")
	}
	if r := q.answer(decline); !r.isError() {
		t.Errorf("%s", r.raw)
	}
}

// TestLogs: log messages of a call go to the client that requested their level, whatever the
// families of client and upstream.
func TestLogs(t *testing.T) {
	isLog := func(m message) bool { return m.method == "notifications/message" }
	for _, era := range []testserver.Eras{testserver.Legacy, testserver.Modern} {
		eachLeg(t, func(t *testing.T, l leg) {
			c := start(t, setup{server: testserver.Options{Eras: era}}).connect(l, "")
			at := func(level string) {
				meta := `"io.modelcontextprotocol/logLevel":"` + level + `"`
				if !l.modern {
					meta = ""
					c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"logging/setLevel","params":{"level":"` + level + `"}}`))
				}
				c.reply(c.callWith("log", `{"n":3}`, meta, ""))
			}
			at("error")
			if l.modern {
				c.must("log", `{"n":3}`) // without a level there are no messages
			}
			if n := c.mail.count(isLog); n != 0 {
				t.Errorf("%d messages that nobody asked for: %s", n, c.mail)
			}
			at("info")
			for range 3 {
				c.await("a log message", isLog)
			}
			at("debug")
			for range 3 {
				c.await("a log message", isLog)
			}
			if n := c.mail.count(isLog); n != 0 {
				t.Errorf("%d messages too many: %s", n, c.mail)
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
