package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestBesideCalls: for a prompt or resource that the gate refuses, there are no completions and no
// notifications. These checks decide nothing.
func TestBesideCalls(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: blocking(t, "prompt:up.secret", "resource:up"), server: besides})
		c := s.connect(l, "")
		for name, ref := range map[string]string{
			"a blocked prompt":     `{"type":"ref/prompt","name":"secret"}`,
			"another spelling":     `{"type":"ref/prompt","name":"Secret"}`,
			"a template":           `{"type":"ref/resource","uri":"a:{x}"}`,
			"a resource":           `{"type":"ref/resource","uri":"a:b"}`,
			"something unforeseen": `{"type":"ref/other","name":"secret"}`,
		} {
			if r := c.request("completion/complete", `"ref":`+ref+`,"argument":{"name":"a","value":""}`); r.err == nil {
				t.Errorf("%s: %s", name, r.raw)
			}
		}
		if got := s.received("completion/complete"); got != "" {
			t.Errorf("relayed: %s", got)
		}
		if r := c.request("completion/complete", `"ref":{"type":"ref/prompt","name":"open"},"argument":{"name":"a","value":""}`); r.result == nil {
			t.Errorf("%s", r.raw)
		}
		if l.modern {
			c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}}`)
			ack := c.await("the acknowledgement", func(m message) bool { return m.method == "notifications/subscriptions/acknowledged" })
			if !strings.Contains(string(ack.raw), `"toolsListChanged":true`) || strings.Contains(string(ack.raw), "resourceSubscriptions") {
				t.Errorf("%s", ack.raw)
			}
		} else {
			if r := c.request("resources/subscribe", `"uri":"a:b"`); r.err == nil || !strings.Contains(string(r.raw), "resource:up") {
				t.Errorf("%s", r.raw)
			}
		}
		if got := s.received("resources/subscribe") + s.received("subscriptions/listen"); strings.Contains(got, "a:b") {
			t.Errorf("watched: %s", got)
		}
		if n := len(s.records.decisions("refuse")); n != 0 {
			t.Errorf("%d decisions on record", n)
		}
	})
}

// TestUnknownReferences: under a policy that admits nothing it does not name, completions for
// unknown kinds of references are refused.
func TestUnknownReferences(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		p, err := gate.NewPolicy(nil, gate.PolicyOptions{Deny: true})
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, setup{policy: p, server: besides})
		c := s.connect(l, "")
		for _, params := range []string{
			`"ref":{"type":"ref/Prompt","name":"open"},`, `"ref":{"type":"ref/tool","name":"open"},`, `"ref":{"name":"open"},`, `"ref":{"type":1,"name":"open"},`,
			`"ref":"open",`, ``, `"ref":{"type":"ref/prompt","name":"open"},`, `"ref":{"type":"ref/prompt","name":"other"},`, `"ref":{"type":"ref/resource","uri":"z:1"},`,
		} {
			if r := c.request("completion/complete", params+`"argument":{"name":"a","value":""}`); r.err == nil {
				t.Errorf("%s: %s", params, r.raw)
			}
		}
		if got := s.received("completion/complete"); got != "" {
			t.Errorf("relayed: %s", got)
		}
	})
}

// besides is a server with the methods that are not calls.
var besides = testserver.Options{
	Capabilities: whole,
	Methods: map[string]testserver.Method{
		"prompts/list": says(`{"prompts":[{"name":"open"},{"name":"secret"}]}`), "resources/list": says(`{"resources":[{"uri":"a:b","name":"b"}]}`),
		"resources/templates/list": says(`{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"x"}]}`),
		"completion/complete":      says(`{"completion":{"values":["x"]}}`), "resources/subscribe": says(`{}`),
	},
}

// TestBesideCallsLater: the state of the session counts, and a required approval bars nothing.
func TestBesideCallsLater(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: besides, policy: netPolicy(t, gate.Net{
			Name: "order", Places: []string{"locked", "open"}, Initial: map[string]int{"locked": 1},
			Transitions: []gate.Transition{
				{Name: "unlock", Inputs: []string{"locked"}, Outputs: []string{"open"}, Tools: gate.Tools("safe"), Deferred: true},
				{Name: "see", Inputs: []string{"open"}, Outputs: []string{"open"}, Tools: gate.Tools("prompt:up.secret"), Manual: true},
			},
		})})
		c := s.connect(l, "")
		complete := func() message {
			return c.request("completion/complete", `"ref":{"type":"ref/prompt","name":"secret"},"argument":{"name":"a","value":""}`)
		}
		if r := complete(); r.err == nil {
			t.Errorf("%s", r.raw)
		}
		c.must("safe", "{}")
		if r := complete(); r.result == nil {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestBesideCallsUnlisted: notifications about items of one of several servers are barred before
// any client has requested its lists, and unknown items are not promised.
func TestBesideCallsUnlisted(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: blocking(t, "resource:b"), change: func(o *proxy.Options) {
			o.Upstreams = []proxy.Upstream{featured(t, "a", "a:1"), featured(t, "b", "b:1")}
		}})
		c := s.connect(l, "")
		if !l.modern {
			for uri, open := range map[string]bool{"b:1": false, "none:1": false, "a:1": true} {
				if r := c.request("resources/subscribe", `"uri":"`+uri+`"`); (r.err == nil) != open {
					t.Errorf("%s: %s", uri, r.raw)
				}
			}
			return
		}
		c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"resourceSubscriptions":["b:1","none:1","a:1"]}}}`)
		ack := c.await("the acknowledgement", func(m message) bool { return m.method == "notifications/subscriptions/acknowledged" })
		if !strings.Contains(string(ack.raw), `"resourceSubscriptions":["a:1"]`) {
			t.Errorf("%s", ack.raw)
		}
	})
}
