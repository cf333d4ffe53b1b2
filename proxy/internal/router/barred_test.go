package router_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestBesideCalls checks that the proxy forwards neither completions nor notifications for a prompt
// or resource that the gate refuses. These checks make no decisions.
func TestBesideCalls(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.BlockingPolicy(t, "prompt:up.secret", "resource:up"), Server: besides})
		c := s.Connect(l, "")
		for name, ref := range map[string]string{
			"a blocked prompt":     `{"type":"ref/prompt","name":"secret"}`,
			"another spelling":     `{"type":"ref/prompt","name":"Secret"}`,
			"a template":           `{"type":"ref/resource","uri":"a:{x}"}`,
			"a resource":           `{"type":"ref/resource","uri":"a:b"}`,
			"something unforeseen": `{"type":"ref/other","name":"secret"}`,
		} {
			if r := c.Request("completion/complete", `"ref":`+ref+`,"argument":{"name":"a","value":""}`); r.Error == nil {
				t.Errorf("%s: %s", name, r.Raw)
			}
		}
		if got := s.LastReceived("completion/complete"); got != "" {
			t.Errorf("relayed: %s", got)
		}
		if r := c.Request("completion/complete", `"ref":{"type":"ref/prompt","name":"open"},"argument":{"name":"a","value":""}`); r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		if l.Modern {
			c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}}`)
			ack := c.Await("the acknowledgement", func(m proxytest.Message) bool { return m.Method == "notifications/subscriptions/acknowledged" })
			if !strings.Contains(string(ack.Raw), `"toolsListChanged":true`) || strings.Contains(string(ack.Raw), "resourceSubscriptions") {
				t.Errorf("%s", ack.Raw)
			}
		} else {
			if r := c.Request("resources/subscribe", `"uri":"a:b"`); r.Error == nil || !strings.Contains(string(r.Raw), "resource:up") {
				t.Errorf("%s", r.Raw)
			}
		}
		if got := s.LastReceived("resources/subscribe") + s.LastReceived("subscriptions/listen"); strings.Contains(got, "a:b") {
			t.Errorf("watched: %s", got)
		}
		if n := len(s.Records.Decisions("refuse")); n != 0 {
			t.Errorf("%d decisions on record", n)
		}
	})
}

// TestUnknownReferences checks that completions for unknown kinds of references are refused under a
// policy that admits only the kinds it names.
func TestUnknownReferences(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		p, err := gate.NewPolicy(nil, gate.PolicyOptions{Deny: true})
		if err != nil {
			t.Fatal(err)
		}
		s := proxytest.Start(t, proxytest.Setup{Policy: p, Server: besides})
		c := s.Connect(l, "")
		for _, params := range []string{
			`"ref":{"type":"ref/Prompt","name":"open"},`, `"ref":{"type":"ref/tool","name":"open"},`, `"ref":{"name":"open"},`, `"ref":{"type":1,"name":"open"},`,
			`"ref":"open",`, ``, `"ref":{"type":"ref/prompt","name":"open"},`, `"ref":{"type":"ref/prompt","name":"other"},`, `"ref":{"type":"ref/resource","uri":"z:1"},`,
		} {
			if r := c.Request("completion/complete", params+`"argument":{"name":"a","value":""}`); r.Error == nil {
				t.Errorf("%s: %s", params, r.Raw)
			}
		}
		if got := s.LastReceived("completion/complete"); got != "" {
			t.Errorf("relayed: %s", got)
		}
	})
}

// besides configures a server that supports the methods that are not calls.
var besides = testserver.Options{
	Capabilities: proxytest.AllCapabilities,
	Methods: map[string]testserver.Method{
		"prompts/list": proxytest.ConstantMethod(`{"prompts":[{"name":"open"},{"name":"secret"}]}`), "resources/list": proxytest.ConstantMethod(`{"resources":[{"uri":"a:b","name":"b"}]}`),
		"resources/templates/list": proxytest.ConstantMethod(`{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"x"}]}`),
		"completion/complete":      proxytest.ConstantMethod(`{"completion":{"values":["x"]}}`), "resources/subscribe": proxytest.ConstantMethod(`{}`),
	},
}

// TestBesideCallsLater checks that the state of the session counts, and that a required approval
// does not prevent these messages.
func TestBesideCallsLater(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: besides, Policy: proxytest.NetPolicy(t, gate.Net{
			Name: "order", Places: []string{"locked", "open"}, Initial: map[string]int{"locked": 1},
			Transitions: []gate.Transition{
				{Name: "unlock", Inputs: []string{"locked"}, Outputs: []string{"open"}, Tools: gate.Tools("safe"), Deferred: true},
				{Name: "see", Inputs: []string{"open"}, Outputs: []string{"open"}, Tools: gate.Tools("prompt:up.secret"), Manual: true},
			},
		})})
		c := s.Connect(l, "")
		complete := func() proxytest.Message {
			return c.Request("completion/complete", `"ref":{"type":"ref/prompt","name":"secret"},"argument":{"name":"a","value":""}`)
		}
		if r := complete(); r.Error == nil {
			t.Errorf("%s", r.Raw)
		}
		c.Must("safe", "{}")
		if r := complete(); r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestBesideCallsUnlisted checks that notifications about the items of one of several servers are
// withheld even before any client has requested its lists, and that unknown items are not promised.
func TestBesideCallsUnlisted(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.BlockingPolicy(t, "resource:b"), Change: func(o *proxy.Options) {
			o.Upstreams = []proxy.Upstream{proxytest.ServeFeatures(t, "a", "a:1"), proxytest.ServeFeatures(t, "b", "b:1")}
		}})
		c := s.Connect(l, "")
		if !l.Modern {
			for uri, open := range map[string]bool{"b:1": false, "none:1": false, "a:1": true} {
				if r := c.Request("resources/subscribe", `"uri":"`+uri+`"`); (r.Error == nil) != open {
					t.Errorf("%s: %s", uri, r.Raw)
				}
			}
			return
		}
		c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"resourceSubscriptions":["b:1","none:1","a:1"]}}}`)
		ack := c.Await("the acknowledgement", func(m proxytest.Message) bool { return m.Method == "notifications/subscriptions/acknowledged" })
		if !strings.Contains(string(ack.Raw), `"resourceSubscriptions":["a:1"]`) {
			t.Errorf("%s", ack.Raw)
		}
	})
}
