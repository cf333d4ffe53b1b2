package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// refuses fails unless the policy refuses the call: with a readable answer under its id, no change
// of any state, one record, and no execution.
func (c *client) refuses(tool, args, kind string) message {
	c.t.Helper()
	before, executed, records := c.state(), c.ran(), len(c.records.decisions(""))
	r := c.do(tool, args)
	switch {
	case r.result == nil || !r.isError() || r.text() == "":
		c.t.Errorf("%s %s: not a tool error: %s", tool, args, r.raw)
	case r.decision("decision") != "refuse" || r.decision("kind") != kind:
		c.t.Errorf("%s %s: kind %q, want %q: %s", tool, args, r.decision("kind"), kind, r.raw)
	case c.leg.modern && at(r.result, "resultType") != `"complete"`:
		c.t.Errorf("%s %s: no resultType: %s", tool, args, r.raw)
	}
	if after := c.state(); after != before {
		c.t.Errorf("%s %s: the state moved:\n%s\n%s", tool, args, before, after)
	}
	if n := c.ran(); n != executed {
		c.t.Errorf("%s %s: executed", tool, args)
	}
	all := c.records.decisions("")
	if len(all) != records+1 {
		c.t.Fatalf("%s %s: %d records, want 1", tool, args, len(all)-records)
	}
	last := all[len(all)-1]
	if last.Decision != "refuse" || last.Kind != kind || last.Reason == "" || last.Arguments == "" || last.Principal == "" || last.Session == "" || last.Policy == "" {
		c.t.Errorf("%s %s: the record lacks something: %+v", tool, args, last)
	}
	return r
}

// ran returns what the upstream has executed, except for the proxy's own polling of tasks.
func (s *site) ran() (n int) {
	for _, r := range s.log.Records(testserver.Executed) {
		if !strings.HasPrefix(r.Name, "tasks/") {
			n++
		}
	}
	return n
}

// unknown fails unless the call is answered as one of an unknown tool, without an execution.
func (c *client) unknown(tool string) {
	c.t.Helper()
	before, executed := c.state(), c.log.Executed("")
	if r := c.do(tool, `{}`); r.code() != codeParams {
		c.t.Errorf("%q: %s", tool, r.raw)
	}
	if c.state() != before || c.log.Executed("") != executed {
		c.t.Errorf("%q: something moved", tool)
	}
}

// TestIdentity: A030 to A033, A039. Only the exact exposed name is a tool, even if the upstream
// would accept others.
func TestIdentity(t *testing.T) {
	names := []string{
		"Danger", "DANGER", "Push", "dangeR",
		"danger ", " danger", "dan\u200bger", "danger\u00a0", "danger\u00ad", "\u202edanger",
		"d\u0430nger", "\uff44\uff41\uff4e\uff47\uff45\uff52", "da\u0301nger", "up.danger", "up_danger", "up/danger", "up:danger", "up__danger",
		"__danger", ".", "..", "%2e", "danger/../safe", strings.Repeat("x", 129), strings.Repeat("x", 512), "danger.", "*", "?anger",
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{FoldNames: true}})
		c := s.connect(l, "")
		c.must("read", `{}`)
		for _, name := range names {
			c.unknown(name)
		}
		for _, name := range []string{"danger\t", "danger\r", "danger\n", "\u0085danger"} {
			if r := c.do(name, `{}`); r.code() != codeParams {
				t.Errorf("%q: %s", name, r.raw)
			}
		}
		c.close()
		s.executed("", 1)
	})
}

// TestPrefixedIdentity: A033, A034. With a prefix only the exposed name resolves, and rules about
// the bare and the canonical name apply.
func TestPrefixedIdentity(t *testing.T) {
	prefix := "srv"
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "block danger\nblock up.deploy\nblock srv_push\n", change: func(o *proxy.Options) { o.Upstreams[0].Prefix = &prefix }})
		c := s.connect(l, "")
		c.must("srv_read", `{}`)
		for _, name := range []string{"danger", "read", "up.danger", "up.read", "srv_srv_danger", "srv__danger", "_danger", "srv/danger", "srv.danger", "srv:danger", "SRV_danger"} {
			c.unknown(name)
		}
		for _, name := range []string{"srv_danger", "srv_deploy", "srv_push"} {
			c.refuses(name, `{}`, "blocked")
		}
	})
}

// TestNotListed: A035. An unlisted tool cannot be called, and a tool that the upstream removes
// cannot be called any more.
func TestNotListed(t *testing.T) {
	hidden := testserver.Tool{Name: "bad name", Run: testserver.Attack()[0].Run}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Tools: append(testserver.Attack(), hidden)}})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		c.unknown("bad name")
		if strings.Contains(string(c.list().raw), "bad name") {
			t.Error("a quarantined tool is listed")
		}
		c.awaitSubscribed()
		s.upstream.RemoveTool("safe")
		s.eventually("safe is gone", func() bool { return !strings.Contains(string(c.list().raw), `"safe"`) })
		c.unknown("safe")
	})
}

// awaitSubscribed waits until the upstream would notify the proxy of a change.
func (s *site) awaitSubscribed() {
	s.t.Helper()
	s.eventually("the proxy hears of changes", func() bool { return len(s.log.Records(testserver.Subscribed)) > 0 })
}

// TestUnknownToolInRules: A038. A rule about an unknown tool is a warning.
func TestUnknownToolInRules(t *testing.T) {
	r, err := policy.Build(policy.Source{
		Rules: []config.RuleText{{File: "p.rules", Text: "require backup before delte\n"}},
		Tools: []string{"backup", "delete"},
	})
	if err != nil {
		t.Fatal(err)
	}
	warnings := r.Problems.Of(diag.Warning)
	if len(warnings) != 1 || warnings[0].Code != policy.UnknownTool || !strings.Contains(warnings[0].Error(), `p.rules:1:23`) || !strings.Contains(warnings[0].Hint, "delete") {
		t.Errorf("%v", warnings)
	}
}

// TestAllNamesCount: A040, A041. A call carries all its names, and each net of any of them decides.
func TestAllNamesCount(t *testing.T) {
	rules := "limit bash to 2 per session\nmap bash.command rm as delete\nmap bash.command cp as copy\nblock copy\nblock bash.reboot\n"
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: rules})
		c := s.connect(l, "")
		c.must("bash", `{"command":"rm a"}`)
		c.refuses("bash", `{"command":"cp a b; rm a"}`, "blocked")
		c.refuses("bash", `{"command":"ls","action":"reboot"}`, "blocked")
		c.must("bash", `{"command":"ls"}`)
		c.refuses("bash", `{"command":"rm a"}`, "blocked") // the limit of bash applies to the mapped name
		c.refuses("bash", `{}`, "blocked")
		s.executed("bash", 2)
	})
}

// TestEveryRuleKindRefuses: every kind of rule refuses on every leg, with its reason.
func TestEveryRuleKindRefuses(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		c.refuses("danger", `{}`, "blocked")
		c.refuses("danger", ``, "blocked")
		c.refuses("delete", `{}`, "blocked")
		c.refuses("deploy", `{}`, "approval") // no person can be asked
		c.refuses("bash", `{"command":"rm x"}`, "blocked")
		for range 3 {
			c.must("push", `{}`)
		}
		r := c.refuses("push", `{}`, "blocked")
		if !strings.Contains(r.text(), "test.rules:4:1") {
			t.Errorf("the refusal does not name its rule: %s", r.text())
		}
		if r := c.do("backup", `{"fail":true}`); !r.isError() {
			t.Errorf("%s", r.raw)
		}
		c.refuses("delete", `{}`, "blocked") // a failed backup does not count
		c.must("backup", `{}`)
		c.must("delete", `{}`)
		c.refuses("delete", `{}`, "blocked")
		s.executed("danger", 0)
		s.executed("deploy", 0)
		s.executed("delete", 1)
	})
}

// TestNonStringActionsRestrict: A051 to A053. The strings in an action that is not a string
// restrict; an absent action, or another word, does not match. Nor can the action hide in a key
// that differs in case.
func TestNonStringActionsRestrict(t *testing.T) {
	blocked := []string{
		`{"action":"timeout"}`, `{"action":"time\u006fut"}`, `{"\u0061ction":"timeout"}`,
		`{"action":["timeout"]}`, `{"action":{"$eq":"timeout"}}`, `{"action":[["a"],{"b":["timeout"]}]}`,
		`{"Action":"timeout"}`, `{"action":"read","ACTION":"timeout"}`, `{"action":"timeout","Action":"read"}`,
	}
	passed := []string{
		`{}`, ``, `{"action":null}`, `{"action":"Timeout"}`, `{"action":" timeout"}`, `{"Action":"read"}`, `{"act":"timeout"}`,
		`{"nested":{"action":"timeout"}}`, `{"action":{"timeout":1}}`, `{"action":7}`,
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		for _, a := range blocked {
			c.refuses("discord", a, "blocked")
		}
		for _, a := range passed {
			c.must("discord", a)
		}
		s.executed("discord", len(passed))
	})
}

// TestMappedFields: A054. A field that is not a string stands for the strings in it, as a
// restriction only.
func TestMappedFields(t *testing.T) {
	rules := "map bash.command rm as delete\nrequire backup before delete\nmap bash.command backup as backup\n"
	blocked := []string{
		`{"command":["rm","-rf","x"]}`, `{"command":{"cmd":"rm"}}`, `{"command":[["ls"],"rm x"]}`, `{"command":"r\u006d x"}`, `{"command":"a;rm"}`,
		`{"Command":"rm x"}`, `{"command":"ls","COMMAND":"rm x"}`, `{"command":"rm x","Command":"ls"}`,
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: rules})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		for _, a := range blocked {
			c.refuses("bash", a, "blocked")
		}
		for _, a := range []string{`{}`, `{"command":null}`, `{"command":"RM"}`, `{"cmd":"rm"}`, `{"command":"format"}`, `{"command":{"rm":1}}`} {
			c.must("bash", a)
		}
		c.must("bash", `{"command":["backup"]}`) // restricts only: does not count as a backup
		c.must("bash", `{"command":"backup","Command":"ls"}`)
		c.refuses("delete", `{}`, "blocked")
		c.must("bash", `{"command":"backup"}`)
		c.must("delete", `{}`)
	})
}

// TestKeysInOtherCase: servers that ignore the case of keys read another argument than the one that
// a rule names. Such a call is restricted by all of them and exempt by none, and expressions about
// it are undecided.
func TestKeysInOtherCase(t *testing.T) {
	rules := "map bash.command runs rm as delete\nmap bash.command runs ls as listing\nblock delete\n" +
		"require human-approval before bash unless listing\n" +
		"map safe when \"args.amount > 10\" as large\nblock large\n" +
		"map push.$.request.files[*].path runs rm as push-delete\nblock push-delete\n"
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: rules})
		c := s.connect(l, "")
		c.must("bash", `{"command":"ls"}`)
		for _, a := range []string{`{"command":"ls","Command":"rm -rf /"}`, `{"COMMAND":"rm -rf /"}`, `{"command":"rm -rf /","Command":"ls"}`} {
			c.refuses("bash", a, "blocked")
		}
		c.refuses("bash", `{"command":"ls","Command":"ls"}`, "approval")
		c.refuses("bash", `{"Command":"ls"}`, "approval")
		c.must("safe", `{"amount":1}`)
		for _, a := range []string{`{"amount":1,"Amount":11}`, `{"AMOUNT":1}`, `{"amount":11}`} {
			c.refuses("safe", a, "blocked")
		}
		c.must("push", `{"request":{"files":[{"path":"ls"}]}}`)
		for _, a := range []string{
			`{"Request":{"files":[{"path":"rm x"}]}}`, `{"request":{"files":[]},"REQUEST":{"files":[{"path":"rm x"}]}}`,
			`{"request":{"files":[{"path":"ls"}],"Files":[{"path":"rm x"}]}}`, `{"request":{"files":[{"path":"ls","Path":"rm x"}]}}`,
		} {
			c.refuses("push", a, "blocked")
		}
		s.executed("bash", 1)
		s.executed("safe", 1)
	})
}

// TestOtherMethods: other methods than calls of tools never reach the upstream.
func TestOtherMethods(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		for _, method := range []string{
			"resources/read", "prompts/get", "completion/complete", "tasks/get", "tools/Call", "TOOLS/CALL", "tools/call ", "$/x", "vendor/do",
			"sampling/createMessage", "notifications/initialized", "roots/list",
		} {
			r := c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"` + method + `","params":{%META%"name":"danger","uri":"file:///x","taskId":"1","messages":[],"maxTokens":1,"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"x","value":"y"}}}`))
			if r.err == nil {
				t.Errorf("%s: %s", method, r.raw)
			}
		}
		for _, r := range s.log.Records(testserver.Received) {
			if strings.Contains(string(r.Bytes), "file:///x") {
				t.Errorf("reached the upstream: %s", r.Bytes)
			}
		}
		s.executed("", 1)
	})
}
