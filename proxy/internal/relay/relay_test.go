package relay_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestFeaturesAreVerbatim: messages that are not about tools are forwarded byte for byte, except
// for members that belong to the hop.
func TestFeaturesAreVerbatim(t *testing.T) {
	const odd = `"x":{"n":12345678901234567890, "f":1.50,"e":1E400},"_meta":{"a/b":"\u00e9"}`
	methods := map[string]string{ // and params
		"prompts/list":             `"cursor":"page \u0032"`,
		"prompts/get":              `"name":"p","arguments":{"a":"<&>"}`,
		"resources/list":           `"y": 1.0`,
		"resources/templates/list": `"y":[ ]`,
		"resources/read":           `"uri":"test://a\u002fb"`,
		"completion/complete":      `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}`,
	}
	proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
		o := testserver.Options{Revisions: era, Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{}}
		kind := ""
		if era == testserver.Modern {
			kind = `,"resultType":"complete"`
		}
		for method := range methods {
			o.Methods[method] = proxytest.ConstantMethod(`{"nextCursor":"2","m":"` + method + `",` + odd + kind + `}`)
		}
		s := proxytest.Start(t, proxytest.Setup{Server: o})
		c := s.Connect(l, "")
		for method, params := range methods {
			r := c.Request(method, params)
			if !strings.Contains(string(r.Result), `"nextCursor":"2","m":"`+method+`",`+odd) {
				t.Errorf("%s: %s", method, r.Raw)
			}
			if got := proxytest.Member(r.Result, "resultType"); (got == `"complete"`) != l.Modern {
				t.Errorf("%s: resultType %s", method, got)
			}
			if !strings.Contains(s.LastReceived(method), params) {
				t.Errorf("%s: %s does not have %s", method, s.LastReceived(method), params)
			}
		}
	})
}

// TestFeaturesThatAreNot: capabilities that no upstream has are neither offered nor forwarded.
func TestFeaturesThatAreNot(t *testing.T) {
	proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: testserver.Options{Revisions: era}})
		c := s.Connect(l, "")
		for _, method := range []string{"prompts/list", "resources/list", "resources/templates/list", "completion/complete", "prompts/get", "resources/read", "tasks/list", "vendor/x"} {
			if r := c.Request(method, `"name":"x","uri":"x:y","ref":{}`); r.Code() != "-32601" {
				t.Errorf("%s: %s", method, r.Raw)
			}
			if s.LastReceived(method) != "" {
				t.Errorf("%s was relayed", method)
			}
		}
	})
}

// TestPromptsAndResourcesAreGated: they are calls of names that rules can use.
func TestPromptsAndResourcesAreGated(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.BlockingPolicy(t, "prompt:up.secret", "resource:up"), Server: testserver.Options{
			Capabilities: proxytest.AllCapabilities,
			Methods: map[string]testserver.Method{
				"prompts/list": proxytest.ConstantMethod(`{"prompts":[{"name":"open"},{"name":"secret"}]}`),
				"prompts/get":  proxytest.ConstantMethod(`{"messages":[]}`), "resources/read": proxytest.ConstantMethod(`{"contents":[]}`),
			},
		}})
		c := s.Connect(l, "")
		if r := c.Request("prompts/get", `"name":"open"`); r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		for method, params := range map[string]string{"prompts/get": `"name":"secret"`, "resources/read": `"uri":"a:b"`} {
			if r := c.Request(method, params); r.Error == nil {
				t.Errorf("%s: %s", method, r.Raw)
			}
		}
		if n := s.Log.Executed("resources/read"); n != 0 {
			t.Errorf("%d resources were read", n)
		}
		if n := len(s.Records.Decisions("refuse")); n != 2 {
			t.Errorf("%d refusals on record", n)
		}
	})
}

// TestMergedFeatures: the lists of several upstreams are joined, and requests go to the upstream
// that has the item.
func TestMergedFeatures(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Change: func(o *proxy.Options) {
			o.Upstreams = []proxy.Upstream{proxytest.ServeFeatures(t, "a", "a:1"), proxytest.ServeFeatures(t, "b", "b:1")}
		}})
		c := s.Connect(l, "")
		if r := c.Request("prompts/list", `"y":1`); proxytest.Member(r.Result, "prompts") != `[{"name":"a_p","of":"a"},{"name":"b_p","of":"b"}]` {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Request("resources/list", `"y":1`); proxytest.Member(r.Result, "resources") != `[{"uri":"a:1"},{"uri":"both:1","of":"a"},{"uri":"b:1"}]` {
			t.Errorf("%s", r.Raw)
		}
		for params, want := range map[string]string{
			`"uri":"b:1"`: `"b"`, `"uri":"a:1"`: `"a"`, `"uri":"both:1"`: `"a"`, `"uri":"b://x/y"`: `"b"`,
		} {
			if r := c.Request("resources/read", params); proxytest.Member(r.Result, "of") != want {
				t.Errorf("%s: %s", params, r.Raw)
			}
		}
		if r := c.Request("resources/read", `"uri":"c:1"`); proxytest.Member(r.Error, "data", "uri") != `"c:1"` {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Request("prompts/get", `"name":"b_p"`); proxytest.Member(r.Result, "of") != `"b"` || proxytest.Member(r.Result, "name") != `"p"` {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Request("prompts/get", `"name":"p"`); r.Code() != "-32602" {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Request("completion/complete", `"ref":{"type":"ref/prompt","name":"b_p"},"argument":{}`); proxytest.Member(r.Result, "of") != `"b"` || proxytest.Member(r.Result, "ref") != `"p"` {
			t.Errorf("%s", r.Raw)
		}
	})
}
