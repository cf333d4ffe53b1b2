package proxy_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// whole is the capabilities of a server that supports everything.
const whole = `{"logging":{},"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{}}`

// says is a method that always gives the same answer.
func says(result string) testserver.Method {
	return func(context.Context, *testserver.Call) (json.RawMessage, error) { return json.RawMessage(result), nil }
}

// eachEra runs a case on every leg, in front of an upstream of each family.
func eachEra(t *testing.T, f func(t *testing.T, l leg, era testserver.Eras)) {
	eachLeg(t, func(t *testing.T, l leg) {
		for name, era := range map[string]testserver.Eras{"legacy": testserver.Legacy, "modern": testserver.Modern} {
			t.Run(name, func(t *testing.T) { f(t, l, era) })
		}
	})
}

// request sends a request with members of params after the _meta of the revision.
func (c *client) request(method, params string) message {
	c.t.Helper()
	return c.reply(c.ask(method, params))
}

// ask sends a request with members of params, and returns its id.
func (c *client) ask(method, params string) (id string) {
	return c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"` + method + `","params":{%META%` + params + `}}`)
}

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
	eachEra(t, func(t *testing.T, l leg, era testserver.Eras) {
		o := testserver.Options{Eras: era, Capabilities: whole, Methods: map[string]testserver.Method{}}
		kind := ""
		if era == testserver.Modern {
			kind = `,"resultType":"complete"`
		}
		for method := range methods {
			o.Methods[method] = says(`{"nextCursor":"2","m":"` + method + `",` + odd + kind + `}`)
		}
		s := start(t, setup{server: o})
		c := s.connect(l, "")
		for method, params := range methods {
			r := c.request(method, params)
			if !strings.Contains(string(r.result), `"nextCursor":"2","m":"`+method+`",`+odd) {
				t.Errorf("%s: %s", method, r.raw)
			}
			if got := at(r.result, "resultType"); (got == `"complete"`) != l.modern {
				t.Errorf("%s: resultType %s", method, got)
			}
			if !strings.Contains(s.received(method), params) {
				t.Errorf("%s: %s does not have %s", method, s.received(method), params)
			}
		}
	})
}

// received returns the last message with that method that the upstream got.
func (s *site) received(method string) (last string) {
	for _, r := range s.log.Records(testserver.Received) {
		if at(r.Bytes, "method") == `"`+method+`"` {
			last = string(r.Bytes)
		}
	}
	return last
}

// TestFeaturesThatAreNot: capabilities that no upstream has are neither offered nor forwarded.
func TestFeaturesThatAreNot(t *testing.T) {
	eachEra(t, func(t *testing.T, l leg, era testserver.Eras) {
		s := start(t, setup{policy: netPolicy(t), server: testserver.Options{Eras: era}})
		c := s.connect(l, "")
		for _, method := range []string{"prompts/list", "resources/list", "resources/templates/list", "completion/complete", "prompts/get", "resources/read", "tasks/list", "vendor/x"} {
			if r := c.request(method, `"name":"x","uri":"x:y","ref":{}`); r.code() != "-32601" {
				t.Errorf("%s: %s", method, r.raw)
			}
			if s.received(method) != "" {
				t.Errorf("%s was relayed", method)
			}
		}
	})
}

// TestPromptsAndResourcesAreGated: they are calls of names that rules can use.
func TestPromptsAndResourcesAreGated(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: blocking(t, "prompt:up.secret", "resource:up"), server: testserver.Options{
			Capabilities: whole,
			Methods: map[string]testserver.Method{
				"prompts/list": says(`{"prompts":[{"name":"open"},{"name":"secret"}]}`),
				"prompts/get":  says(`{"messages":[]}`), "resources/read": says(`{"contents":[]}`),
			},
		}})
		c := s.connect(l, "")
		if r := c.request("prompts/get", `"name":"open"`); r.result == nil {
			t.Errorf("%s", r.raw)
		}
		for method, params := range map[string]string{"prompts/get": `"name":"secret"`, "resources/read": `"uri":"a:b"`} {
			if r := c.request(method, params); r.err == nil {
				t.Errorf("%s: %s", method, r.raw)
			}
		}
		if n := s.log.Executed("resources/read"); n != 0 {
			t.Errorf("%d resources were read", n)
		}
		if n := len(s.records.decisions("refuse")); n != 2 {
			t.Errorf("%d refusals on record", n)
		}
	})
}

// blocking is a policy with a net that never admits calls of those names.
func blocking(t *testing.T, names ...string) *gate.Policy {
	return netPolicy(t, gate.Net{
		Name: "closed", Places: []string{"never"},
		Transitions: []gate.Transition{{Name: "pass", Inputs: []string{"never"}, Tools: gate.Tools(names...)}},
	})
}

// TestMergedFeatures: the lists of several upstreams are joined, and requests go to the upstream
// that has the item.
func TestMergedFeatures(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: netPolicy(t), change: func(o *proxy.Options) {
			o.Upstreams = []proxy.Upstream{featured(t, "a", "a:1"), featured(t, "b", "b:1")}
		}})
		c := s.connect(l, "")
		if r := c.request("prompts/list", `"y":1`); at(r.result, "prompts") != `[{"name":"a_p","of":"a"},{"name":"b_p","of":"b"}]` {
			t.Errorf("%s", r.raw)
		}
		if r := c.request("resources/list", `"y":1`); at(r.result, "resources") != `[{"uri":"a:1"},{"uri":"both:1","of":"a"},{"uri":"b:1"}]` {
			t.Errorf("%s", r.raw)
		}
		for params, want := range map[string]string{
			`"uri":"b:1"`: `"b"`, `"uri":"a:1"`: `"a"`, `"uri":"both:1"`: `"a"`, `"uri":"b://x/y"`: `"b"`,
		} {
			if r := c.request("resources/read", params); at(r.result, "of") != want {
				t.Errorf("%s: %s", params, r.raw)
			}
		}
		if r := c.request("resources/read", `"uri":"c:1"`); at(r.err, "data", "uri") != `"c:1"` {
			t.Errorf("%s", r.raw)
		}
		if r := c.request("prompts/get", `"name":"b_p"`); at(r.result, "of") != `"b"` || at(r.result, "name") != `"p"` {
			t.Errorf("%s", r.raw)
		}
		if r := c.request("prompts/get", `"name":"p"`); r.code() != "-32602" {
			t.Errorf("%s", r.raw)
		}
		if r := c.request("completion/complete", `"ref":{"type":"ref/prompt","name":"b_p"},"argument":{}`); at(r.result, "of") != `"b"` || at(r.result, "ref") != `"p"` {
			t.Errorf("%s", r.raw)
		}
	})
}

// featured is an upstream with a prompt, a template and two resources, whose answers contain its
// name.
func featured(t *testing.T, name, uri string) proxy.Upstream {
	of := `"of":"` + name + `"`
	return serving(t, name, testserver.Options{Capabilities: whole, Methods: map[string]testserver.Method{
		"prompts/list":             says(`{"prompts":[{"name":"p",` + of + `}]}`),
		"resources/list":           says(`{"resources":[{"uri":"` + uri + `"},{"uri":"both:1",` + of + `}]}`),
		"resources/templates/list": says(`{"resourceTemplates":[{"uriTemplate":"` + name + `://{x}/y"}]}`),
		"resources/read":           says(`{"contents":[],` + of + `}`),
		"resources/subscribe":      says(`{}`),
		"prompts/get": func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"messages":[],` + of + `,"name":"` + c.Name + `"}`), nil
		},
		"completion/complete": func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"completion":{},` + of + `,"ref":` + at(c.Params["ref"], "name") + `}`), nil
		},
	}})
}

// serving is an upstream over HTTP with only a fixture.
func serving(t *testing.T, name string, o testserver.Options) proxy.Upstream {
	up := httptest.NewServer(testserver.New(o))
	t.Cleanup(func() {
		up.CloseClientConnections()
		up.Close()
	})
	return proxy.Upstream{Name: name, URL: up.URL}
}
