package relay_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestStatusForAgents: an agent reads which tools it can call, what others require, and nothing
// about shadow nets or earlier arguments; the prompt has the same text.
func TestStatusForAgents(t *testing.T) {
	tools := []testserver.Tool{}
	for _, tool := range testserver.Attack() {
		switch tool.Name {
		case "backup", "bash", "danger", "delete", "deploy", "push", "safe":
			tools = append(tools, tool)
		}
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{
			Rules: "require backup before delete\nrequire human-approval before deploy\nblock danger\nlimit push to 1 per session\nblock bash unless list\n" +
				"map bash.command runs ls as list\nshadow block safe\n",
			Server: testserver.Options{Tools: tools},
			Change: func(o *proxy.Options) {
				o.Remedy = func(_ *gate.State, c gate.Call, _ *gate.Refusal) proxy.Remedy {
					if c.Tool == "delete" {
						return proxy.Remedy{Text: "Call backup; then delete is allowed."}
					}
					return proxy.Remedy{None: true}
				}
			},
		})
		c := s.Connect(l, "")
		c.Must("push", `{"key":"hunter2"}`)
		text := c.StatusText()
		want := strings.Join([]string{
			"# petrigate status", "",
			"A decision can also depend on the arguments. A refused call is not made; the text of its result gives the reason.", "",
			"## Available now", "", "safe, backup", "",
			"## Available once a person has approved the call", "", "deploy", "",
			"## Depends on the arguments", "", "bash", "",
			"## Not available now", "",
			"- danger: danger is blocked and cannot be called. (test.rules:3:1)",
			"- delete: delete requires a successful call to backup first. (test.rules:1:1) Call backup; then delete is allowed.",
			"- push: push has reached its limit of 1 call per session. (test.rules:4:1)", "",
			"## State", "",
		}, "\n")
		head, state, _ := strings.Cut(text, "## State\n")
		if diff := cmp.Diff(want, sorted(head)+"## State\n"); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if strings.Contains(text, "hunter2") || strings.Contains(state, "block-safe") || !strings.Contains(state, "- limit-push-1: ") {
			t.Errorf("%s", state)
		}
		prompt := c.Request("prompts/get", `"name":"petrigate-status"`)
		var got struct {
			Messages []struct{ Content struct{ Text string } }
		}
		if json.Unmarshal(prompt.Result, &got) != nil || len(got.Messages) != 1 || got.Messages[0].Content.Text != text {
			t.Errorf("%s", prompt.Raw)
		}
		c.Must("backup", `{}`)
		if text := c.StatusText(); !strings.Contains(text, "delete") || strings.Contains(text, "- delete: ") {
			t.Errorf("%s", text)
		}
		s.Executed("", 2)
		if n := len(s.Records.Decisions("")); n != 2 {
			t.Errorf("%d decisions on record", n)
		}
	})
}

// sorted sorts the lines of one list, whose order is the upstream's.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		for k := range i {
			if strings.HasPrefix(lines[i], "- ") && strings.HasPrefix(lines[k], "- ") && lines[i] < lines[k] {
				lines[i], lines[k] = lines[k], lines[i]
			}
		}
	}
	return strings.Join(lines, "\n")
}

// TestStatusIsListed: the status is listed besides the upstreams' items, and an upstream cannot
// pass off its own item as the proxy's.
func TestStatusIsListed(t *testing.T) {
	methods := map[string]testserver.Method{
		"prompts/list":   proxytest.ConstantMethod(`{"prompts":[{"name":"p"},{"name":"petrigate-status","of":"up"}],"x":1.0}`),
		"resources/list": proxytest.ConstantMethod(`{"resources":[{"uri":"petrigate://status","of":"up"},{"uri":"a:1"}]}`),
		"prompts/get":    proxytest.ConstantMethod(`{"messages":[],"of":"up"}`), "resources/read": proxytest.ConstantMethod(`{"contents":[],"of":"up"}`),
		"resources/templates/list": proxytest.ConstantMethod(`{"resourceTemplates":[]}`),
	}
	for name, o := range map[string]testserver.Options{"an upstream with all": {Capabilities: proxytest.AllCapabilities, Methods: methods}, "an upstream with none": {}} {
		has := name == "an upstream with all"
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{Server: o})
			c := s.Connect(l, "")
			for method, want := range map[string]string{"prompts": `"name":"petrigate-status"`, "resources": `"uri":"petrigate://status"`, "resources/templates": ""} {
				r := c.Request(method+"/list", `"y":1`)
				if r.Result == nil || want != "" && strings.Count(string(r.Result), want) != 1 || strings.Contains(string(r.Result), `"of"`) {
					t.Errorf("%s: %s", name, r.Raw)
				}
				if has && want != "" && !strings.Contains(string(r.Result), `:[{`) || strings.Contains(string(r.Result), `"p"`) != (has && method == "prompts") {
					t.Errorf("%s: %s", name, r.Raw)
				}
			}
			c.StatusText()
			if r := c.Request("prompts/get", `"name":"petrigate-status"`); r.Result == nil || proxytest.Member(r.Result, "of") != "" {
				t.Errorf("%s", r.Raw)
			}
			if !l.Modern {
				if r := c.Request("resources/subscribe", `"uri":"petrigate://status"`); r.Code() != proxytest.CodeParams || !strings.Contains(string(r.Raw), "cannot be watched") {
					t.Errorf("%s", r.Raw)
				}
			}
			if s.LastReceived("resources/read")+s.LastReceived("prompts/get")+s.LastReceived("resources/subscribe") != "" {
				t.Error("an upstream was asked about the gate")
			}
		})
	}
}

// TestNoStatusWithoutNets: if no net enforces decisions, clients see the same as without a proxy.
func TestNoStatusWithoutNets(t *testing.T) {
	for name, policy := range map[string]func() *gate.Policy{
		"no nets": func() *gate.Policy { return proxytest.NetPolicy(t) }, "shadow": func() *gate.Policy { return proxytest.PolicyOf(t, "shadow block danger\n") },
	} {
		proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
			long := strings.Repeat("Read this. ", 1000)
			s := proxytest.Start(t, proxytest.Setup{Policy: policy(), Server: testserver.Options{Instructions: long}})
			c := s.Connect(l, "")
			if r := c.Request("resources/read", `"uri":"petrigate://status"`); r.Code() != "-32601" {
				t.Errorf("%s: %s", name, r.Raw)
			}
			result := introduction(c)
			if proxytest.Member(result, "instructions") != `"`+long+`"` || proxytest.Member(result, "capabilities", "resources") != "" {
				t.Errorf("%s: %s", name, result)
			}
		})
	}
}

// introduction returns the result of a handshake, or of server/discover.
func introduction(c *proxytest.Client) []byte {
	c.T.Helper()
	if c.Leg.Modern {
		return c.Request("server/discover", `"y":1`).Result
	}
	again := c.UnconnectedClient(c.Leg)
	r := again.Reply(again.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":` + c.Info() + `}}`))
	again.Session = r.Session
	return r.Result
}

// TestInstructions: the proxy's instructions come first, each upstream's has its name as a heading
// if there are several, and together they have at most 2 KB, cut at a line.
func TestInstructions(t *testing.T) {
	line := "This is one line of what a server has to say.\n"
	with := func(name, text string) proxy.Upstream {
		up := httptest.NewServer(testserver.New(testserver.Options{Instructions: text}))
		t.Cleanup(func() {
			up.CloseClientConnections()
			up.Close()
		})
		return proxy.Upstream{Name: name, URL: up.URL}
	}
	cases := []struct {
		texts []string
		want  []string // in this order
		not   string
	}{
		{[]string{"Short."}, []string{"petrigate decides", "\n\nShort."}, "[cut"},
		{[]string{"Short.", "Also short."}, []string{"petrigate decides", "\n\nup0:\nShort.", "\n\nup1:\nAlso short."}, "[cut"},
		{[]string{strings.Repeat(line, 100)}, []string{"petrigate decides", "\n\n" + line, "say.\n[cut short]"}, "up0"},
		{[]string{strings.Repeat(line, 100), "Short.", strings.Repeat("é", 2000)}, []string{"petrigate decides", "up0:\n" + line, "say.\n[cut short]", "up1:\nShort.", "up2:\nééé", "é\n[cut short]"}, "\ufffd"},
		{[]string{"", ""}, []string{"petrigate decides"}, "up0"},
	}
	for i, tt := range cases {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
				o.Upstreams = nil
				for k, text := range tt.texts {
					o.Upstreams = append(o.Upstreams, with(fmt.Sprintf("up%d", k), text))
				}
			}})
			var got string
			if err := json.Unmarshal([]byte(proxytest.Member(introduction(s.Connect(l, "")), "instructions")), &got); err != nil {
				t.Fatal(err)
			}
			if len(got) > 2048 || len(tt.texts[0]) > 2048 && len(got) < 1900 || strings.Contains(got, tt.not) {
				t.Errorf("case %d: %d bytes: %s", i, len(got), got)
			}
			rest := got
			for _, part := range tt.want {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Errorf("case %d: no %q in %s", i, part, got)
				}
				rest = after
			}
		})
	}
}

// TestStatusNamesAbsentServers: an agent with a short list of tools reads which servers are
// missing.
func TestStatusNamesAbsentServers(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) {
		o.Upstreams = append(o.Upstreams, proxy.Upstream{Name: "gone", URL: "http://127.0.0.1:1/mcp"})
		o.Startup = time.Millisecond
	}})
	c := s.Connect(proxytest.Legs()[0], "")
	s.Eventually("only the server that is gone is missing", func() bool {
		return strings.Contains(c.StatusText(), "\n## Servers that are unavailable now, with their tools\n\ngone (")
	})
}
