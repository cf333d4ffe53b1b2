package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestIdentity: A030 to A033, A039. Only the exact exposed name is a tool, even if the upstream
// would accept others.
func TestIdentity(t *testing.T) {
	names := []string{
		"Danger", "DANGER", "Push", "dangeR",
		"danger ", " danger", "dan\u200bger", "danger\u00a0", "danger\u00ad", "\u202edanger",
		"d\u0430nger", "\uff44\uff41\uff4e\uff47\uff45\uff52", "da\u0301nger", "up.danger", "up_danger", "up/danger", "up:danger", "up__danger",
		"__danger", ".", "..", "%2e", "danger/../safe", strings.Repeat("x", 129), strings.Repeat("x", 512), "danger.", "*", "?anger",
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{FoldNames: true}})
		c := s.Connect(l, "")
		c.Must("read", `{}`)
		for _, name := range names {
			c.CallUnknown(name)
		}
		for _, name := range []string{"danger\t", "danger\r", "danger\n", "\u0085danger"} {
			if r := c.Do(name, `{}`); r.Code() != proxytest.CodeParams {
				t.Errorf("%q: %s", name, r.Raw)
			}
		}
		c.Close()
		s.Executed("", 1)
	})
}

// TestPrefixedIdentity: A033, A034. With a prefix only the exposed name resolves, and rules about
// the bare and the canonical name apply.
func TestPrefixedIdentity(t *testing.T) {
	prefix := "srv"
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\nblock up.deploy\nblock srv_push\n", Change: func(o *proxy.Options) { o.Upstreams[0].Prefix = &prefix }})
		c := s.Connect(l, "")
		c.Must("srv_read", `{}`)
		for _, name := range []string{"danger", "read", "up.danger", "up.read", "srv_srv_danger", "srv__danger", "_danger", "srv/danger", "srv.danger", "srv:danger", "SRV_danger"} {
			c.CallUnknown(name)
		}
		for _, name := range []string{"srv_danger", "srv_deploy", "srv_push"} {
			c.Refuses(name, `{}`, "blocked")
		}
	})
}

// TestNotListed: A035. An unlisted tool cannot be called, and a tool that the upstream removes
// cannot be called any more.
func TestNotListed(t *testing.T) {
	hidden := testserver.Tool{Name: "bad name", Run: testserver.Attack()[0].Run}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: append(testserver.Attack(), hidden)}})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		c.CallUnknown("bad name")
		if strings.Contains(string(c.List().Raw), "bad name") {
			t.Error("a quarantined tool is listed")
		}
		c.AwaitSubscribed()
		s.Upstream.RemoveTool("safe")
		s.Eventually("safe is gone", func() bool { return !strings.Contains(string(c.List().Raw), `"safe"`) })
		c.CallUnknown("safe")
	})
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: rules})
		c := s.Connect(l, "")
		c.Must("bash", `{"command":"rm a"}`)
		c.Refuses("bash", `{"command":"cp a b; rm a"}`, "blocked")
		c.Refuses("bash", `{"command":"ls","action":"reboot"}`, "blocked")
		c.Must("bash", `{"command":"ls"}`)
		c.Refuses("bash", `{"command":"rm a"}`, "blocked") // the limit of bash applies to the mapped name
		c.Refuses("bash", `{}`, "blocked")
		s.Executed("bash", 2)
	})
}

// TestEveryRuleKindRefuses: every kind of rule refuses on every leg, with its reason.
func TestEveryRuleKindRefuses(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		c.Refuses("danger", `{}`, "blocked")
		c.Refuses("danger", ``, "blocked")
		c.Refuses("delete", `{}`, "blocked")
		c.Refuses("deploy", `{}`, "approval") // no person can be asked
		c.Refuses("bash", `{"command":"rm x"}`, "blocked")
		for range 3 {
			c.Must("push", `{}`)
		}
		r := c.Refuses("push", `{}`, "blocked")
		if !strings.Contains(r.Text(), "test.rules:4:1") {
			t.Errorf("the refusal does not name its rule: %s", r.Text())
		}
		if r := c.Do("backup", `{"fail":true}`); !r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		c.Refuses("delete", `{}`, "blocked") // a failed backup does not count
		c.Must("backup", `{}`)
		c.Must("delete", `{}`)
		c.Refuses("delete", `{}`, "blocked")
		s.Executed("danger", 0)
		s.Executed("deploy", 0)
		s.Executed("delete", 1)
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		for _, a := range blocked {
			c.Refuses("discord", a, "blocked")
		}
		for _, a := range passed {
			c.Must("discord", a)
		}
		s.Executed("discord", len(passed))
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: rules})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		for _, a := range blocked {
			c.Refuses("bash", a, "blocked")
		}
		for _, a := range []string{`{}`, `{"command":null}`, `{"command":"RM"}`, `{"cmd":"rm"}`, `{"command":"format"}`, `{"command":{"rm":1}}`} {
			c.Must("bash", a)
		}
		c.Must("bash", `{"command":["backup"]}`) // restricts only: does not count as a backup
		c.Must("bash", `{"command":"backup","Command":"ls"}`)
		c.Refuses("delete", `{}`, "blocked")
		c.Must("bash", `{"command":"backup"}`)
		c.Must("delete", `{}`)
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: rules})
		c := s.Connect(l, "")
		c.Must("bash", `{"command":"ls"}`)
		for _, a := range []string{`{"command":"ls","Command":"rm -rf /"}`, `{"COMMAND":"rm -rf /"}`, `{"command":"rm -rf /","Command":"ls"}`} {
			c.Refuses("bash", a, "blocked")
		}
		c.Refuses("bash", `{"command":"ls","Command":"ls"}`, "approval")
		c.Refuses("bash", `{"Command":"ls"}`, "approval")
		c.Must("safe", `{"amount":1}`)
		for _, a := range []string{`{"amount":1,"Amount":11}`, `{"AMOUNT":1}`, `{"amount":11}`} {
			c.Refuses("safe", a, "blocked")
		}
		c.Must("push", `{"request":{"files":[{"path":"ls"}]}}`)
		for _, a := range []string{
			`{"Request":{"files":[{"path":"rm x"}]}}`, `{"request":{"files":[]},"REQUEST":{"files":[{"path":"rm x"}]}}`,
			`{"request":{"files":[{"path":"ls"}],"Files":[{"path":"rm x"}]}}`, `{"request":{"files":[{"path":"ls","Path":"rm x"}]}}`,
		} {
			c.Refuses("push", a, "blocked")
		}
		s.Executed("bash", 1)
		s.Executed("safe", 1)
	})
}

// TestOtherMethods: other methods than calls of tools never reach the upstream.
func TestOtherMethods(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		for _, method := range []string{
			"resources/read", "prompts/get", "completion/complete", "tasks/get", "tools/Call", "TOOLS/CALL", "tools/call ", "$/x", "vendor/do",
			"sampling/createMessage", "notifications/initialized", "roots/list",
		} {
			r := c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"` + method + `","params":{%META%"name":"danger","uri":"file:///x","taskId":"1","messages":[],"maxTokens":1,"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"x","value":"y"}}}`))
			if r.Error == nil {
				t.Errorf("%s: %s", method, r.Raw)
			}
		}
		for _, r := range s.Log.Records(testserver.Received) {
			if strings.Contains(string(r.Bytes), "file:///x") {
				t.Errorf("reached the upstream: %s", r.Bytes)
			}
		}
		s.Executed("", 1)
	})
}
