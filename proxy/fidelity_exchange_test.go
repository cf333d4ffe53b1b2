package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// Petrigate promises to forward the value of params, result and error byte for
// byte, including white space. The only exception is a line break between
// tokens: it becomes a space, because one line is one message over stdio.
// Petrigate changes only members that belong to one hop:
//
//   - the id, the progress token and the id of a subscription: each hop has its own;
//   - members of _meta under io.modelcontextprotocol/ that describe the peers of
//     this hop: protocolVersion, clientInfo, clientCapabilities, logLevel;
//   - resultType, which 2026-07-28 requires and older clients do not know, and,
//     if an older server answers, ttlMs and cacheScope of cacheable results;
//   - requestState, which is sealed;
//   - names, if they have a prefix.

// eraType returns the members that a revision requires in a result.
func eraType(modern bool) string {
	if modern {
		return `,"resultType":"complete"`
	}
	return ""
}

// typed is a template for results of different revisions.
func typed(template string, modern bool) string {
	return strings.Replace(template, "%TYPE%", eraType(modern), 1)
}

// A parrot is an upstream that sends the messages set by a test, and keeps received messages.
type parrot struct {
	result, failure string
	before          [][]byte // messages before the answer
}

func (p *parrot) tool(name string) testserver.Tool {
	return testserver.Tool{Name: name, Verbatim: true, Run: p.run}
}

func (p *parrot) run(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
	for _, m := range p.before {
		c.Send(m)
	}
	if p.failure != "" {
		return nil, &testserver.Error{Raw: json.RawMessage(p.failure)}
	}
	return json.RawMessage(p.result), nil
}

// eachWay runs a case on every leg, in front of an upstream of each family that answers with one
// object or with an event stream.
func eachWay(t *testing.T, f func(t *testing.T, l proxytest.Leg, o testserver.Options)) {
	proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
		for _, stream := range []bool{false, true} {
			if soak.Race && stream != l.Modern {
				continue
			}
			f(t, l, testserver.Options{Revisions: era, Stream: stream, Capabilities: proxytest.AllCapabilities})
		}
	})
}

// through runs a case behind the proxy and, if the client and the upstream are of one family, also
// without it: a test expects what happens without petrigate.
func through(t *testing.T, l proxytest.Leg, o testserver.Options, f func(c *proxytest.Client)) {
	for _, direct := range []bool{false, true} {
		if !direct || l.Modern == (o.Revisions == testserver.Modern) {
			f(proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: o, Direct: direct}).Connect(l, ""))
		}
	}
}

// answered returns the whole message that carries a result or an error.
func answered(id, member, value string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"` + member + `":` + value + `}`
}

// TestFidelityOfResults: the client gets a tool's result unchanged.
func TestFidelityOfResults(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l proxytest.Leg, o testserver.Options) {
		var p parrot
		o.Tools = []testserver.Tool{p.tool("say")}
		through(t, l, o, func(c *proxytest.Client) {
			for _, result := range results() {
				if (l.Modern || o.Revisions == testserver.Modern) && strings.HasPrefix(result, `{"resultType"`) {
					continue // it has a meaning there
				}
				p.result = typed(result, o.Revisions == testserver.Modern)
				id := c.Call("say", `{}`)
				proxytest.CompareText(t, "result", string(c.Reply(id).Raw), answered(id, "result", typed(result, l.Modern)))
			}
		})
	})
}

// TestFidelityOfErrors: an error stays the upstream's own, whatever its code.
func TestFidelityOfErrors(t *testing.T) {
	t.Parallel()
	soak.Bulk(t)
	eachWay(t, func(t *testing.T, l proxytest.Leg, o testserver.Options) {
		var p parrot
		o.Tools = []testserver.Tool{p.tool("say")}
		o.Methods = map[string]testserver.Method{"prompts/get": p.run, "prompts/list": p.run, "resources/read": p.run, "completion/complete": p.run}
		through(t, l, o, func(c *proxytest.Client) {
			for _, p.failure = range failures() {
				id := c.Call("say", `{}`)
				proxytest.CompareText(t, "error", string(c.Reply(id).Raw), answered(id, "error", p.failure))
				if len(p.failure) > 10<<10 {
					continue
				}
				for method, params := range features() {
					r := c.Request(method, params)
					proxytest.CompareText(t, method, string(r.Raw), answered(r.ID, "error", p.failure))
				}
			}
		})
	})
}

// features are the requests that are not calls of tools, with their params.
func features() map[string]string {
	return map[string]string{
		"prompts/list":        `"cursor":"page \u0032"`,
		"prompts/get":         `"name":"p","arguments":{"a":"<&>\u00e9"}`,
		"resources/read":      `"uri":"test://a\u002fb"`,
		"completion/complete": `"ref":{"type":"ref/prompt","name":"p","x":1.0},"argument":{"name":"a","value":"\/"},"context":{"arguments":{"b":"\u0063"}}`,
	}
}

// TestFidelityOfFeatures: params and results of methods other than tools/call.
func TestFidelityOfFeatures(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l proxytest.Leg, o testserver.Options) {
		var p parrot
		o.Methods = map[string]testserver.Method{}
		all := features()
		all["resources/list"], all["resources/templates/list"] = `"y": 1.0`, `"y":[ ]`
		for method := range all {
			o.Methods[method] = p.run
		}
		through(t, l, o, func(c *proxytest.Client) { repeats(t, c, &p, o.Revisions == testserver.Modern, all) })
	})
}

// repeats sends every request with odd params and compares the results.
func repeats(t *testing.T, c *proxytest.Client, p *parrot, modern bool, all map[string]string) {
	for method, params := range all {
		params += `,"z":` + together(hostileValues()[:40])
		for _, result := range results()[:10] {
			p.result = typed(result, modern)
			r := c.Request(method, params)
			want := typed(result, c.Leg.Modern)
			if c.Leg.Modern && !modern && (strings.HasSuffix(method, "/list") || method == "resources/read") {
				want = strings.Replace(want, `"resultType":"complete"`, `"resultType":"complete","ttlMs":0,"cacheScope":"private"`, 1)
			}
			proxytest.CompareText(t, method, string(r.Raw), answered(r.ID, "result", want))
		}
		heard := c.LastReceived(method)
		if !strings.HasSuffix(strings.TrimSpace(heard), params+`}}`) && !strings.Contains(heard, params+`,"_meta":`) {
			t.Errorf("%s: the upstream got %.300s", method, heard)
		}
	}
}

// hopMeta is the _meta that petrigate sends to an upstream of 2026-07-28.
var hopMeta = regexp.MustCompile(`,?"io\.modelcontextprotocol/protocolVersion":"2026-07-28","io\.modelcontextprotocol/clientInfo":\{[^}]*\},"io\.modelcontextprotocol/clientCapabilities":\{\}`)

// TestFidelityOfCalls: the upstream gets what the client sends.
func TestFidelityOfCalls(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l proxytest.Leg, o testserver.Options) {
		p := parrot{result: typed(`{"content":[]%TYPE%}`, o.Revisions == testserver.Modern)}
		o.Tools = []testserver.Tool{p.tool("hear")}
		s := proxytest.Start(t, proxytest.Setup{Server: o})
		c := s.Connect(l, "")
		odd := `"a/b":1.50,"":{"progressToken":1},"traceparent":"\u0030"`
		for _, value := range hostileValues() {
			args := `{"v":` + value + `,"_meta":{"progressToken":` + value + `},"n\u0061me":[ ],"arguments":{}}`
			rest := ` "x": ` + value + ` , "name" : "hear","arguments": ` + args + ` ,"y":[ ] `
			c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tools/call","params":{` + c.Meta(odd+`,"progressToken":"\u0074"`) + rest + `}}`))
			heard := s.LastReceived("tools/call")
			token := proxytest.Member([]byte(heard), "params", "_meta", "progressToken")
			if token == "" || strings.Contains(token, "t") {
				t.Fatalf("%s", heard)
			}
			want := `{"jsonrpc":"2.0","id":` + proxytest.Member([]byte(heard), "id") + `,"method":"tools/call","params":{"_meta":{` + odd + `,"progressToken":` + token + `},` + rest + `}}`
			proxytest.CompareText(t, "call", hopMeta.ReplaceAllString(strings.TrimSuffix(heard, "\n"), ""), want)
			if got := s.Log.Records(testserver.Executed); string(got[len(got)-1].Args) != args {
				t.Errorf("arguments %s, want %s", got[len(got)-1].Args, args)
			}
		}
		for _, foul := range foulValues() { // refused, not repaired
			before := s.Log.Executed("")
			c.Call("hear", `{"v":`+foul+`}`)
			if r := c.Reply("null"); r.Code() != "-32700" || s.Log.Executed("") != before {
				t.Errorf("%s: %s", foul, r.Raw)
			}
		}
	})
}

// TestFidelityOfTools: listed tools are the upstream's own objects, except for a name with a
// prefix, and a tool is called by its own name there.
func TestFidelityOfTools(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, l proxytest.Leg, o testserver.Options) {
		var raw []string
		for _, object := range hostileTools() {
			raw = append(raw, object)
			o.Tools = append(o.Tools, proxytest.Runnable(testserver.Tool{Name: "x", Raw: json.RawMessage(object)}))
		}
		o.PageSize = 7
		c := proxytest.Start(t, proxytest.Setup{Server: o}).Connect(l, "")
		var list []json.RawMessage
		if err := json.Unmarshal([]byte(proxytest.Member(c.List().Result, "tools")), &list); err != nil || len(list) != len(raw) {
			t.Fatalf("%d tools of %d: %v", len(list), len(raw), err)
		}
		for i, object := range list {
			want := strings.Replace(raw[i], `"foreign.a/b-C_9"`, proxytest.Member(object, "name"), 1) // no client could use the name
			proxytest.CompareText(t, "tool", string(object), want)
		}
	})
}

// TestFidelityOfManyTools: a list of ten thousand tools is complete.
func TestFidelityOfManyTools(t *testing.T) {
	o := testserver.Options{PageSize: 3000}
	var want []string
	for i := range 10_000 {
		object := fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object","maximum":1.0},"x":-0}`, i)
		want = append(want, object)
		o.Tools = append(o.Tools, testserver.Tool{Name: fmt.Sprint("t", i), Raw: json.RawMessage(object)})
	}
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: o})
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		c := s.Connect(l, "")
		proxytest.CompareText(t, "list", proxytest.Member(c.List().Result, "tools"), "["+strings.Join(want, ",")+"]")
		c.Close()
	})
}

// TestFidelityOfMuch: large results and arguments; the largest only on two legs, since they take
// long.
func TestFidelityOfMuch(t *testing.T) {
	soak.Bulk(t)
	block := `{"type":"text","text":"` + strings.Repeat(`\u00e9 é 😀 \/ 1.0 `, 1<<10) + `"},`
	blocks := func(size int) string { return `{"content":[` + strings.Repeat(block, size/len(block)+1) + `{}]%TYPE%}` }
	args := `{"v":"` + strings.Repeat(`\"é\/`, (3900<<10)/7) + `"}`
	proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
		o := testserver.Options{Revisions: era, Stream: l.HTTP}
		large := blocks(2 << 20)
		if l.HTTP == l.Modern && l.Modern == (era == testserver.Modern) {
			large = blocks(20 << 20)
		}
		p := parrot{result: typed(large, o.Revisions == testserver.Modern)}
		o.Tools = []testserver.Tool{p.tool("much")}
		s := proxytest.Start(t, proxytest.Setup{Server: o})
		c := s.Connect(l, "")
		id := c.Call("much", args)
		proxytest.CompareText(t, "result", string(c.Reply(id).Raw), answered(id, "result", typed(large, l.Modern)))
		if got := s.Log.Records(testserver.Executed); len(got) != 1 || !bytes.Equal(got[0].Args, []byte(args)) {
			t.Errorf("%d calls, or other arguments", len(got))
		}
	})
}

// TestFidelityOverStdio: the same behind an upstream that speaks stdio.
func TestFidelityOverStdio(t *testing.T) {
	up, _ := proxytest.ChildUpstream(t, "--era legacy")
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		c := s.Connect(l, "")
		for _, result := range slices.DeleteFunc(results(), func(s string) bool { return strings.Contains(s, "foul") || strings.HasPrefix(s, `{"resultType"`) }) {
			id := c.Call("lie", `{"result":`+typed(result, false)+`}`)
			proxytest.CompareText(t, "result", string(c.Reply(id).Raw), answered(id, "result", typed(result, l.Modern)))
		}
		for _, failure := range failures()[:40] {
			id := c.Call("lie", `{"error":`+failure+`}`)
			proxytest.CompareText(t, "error", string(c.Reply(id).Raw), answered(id, "error", failure))
		}
		c.Close()
	})
}
