package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// odd is a tool object that typed clients would change.
const odd = `{"title":"Odd","name":"odd","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":12345678901234567890,"x-k":1.0}},"$defs":{},"additionalProperties":false},"_meta":{"a/b":1.50},"annotations":{"readOnlyHint":true,"new":null},"icons":[{"src":"data:,<>&"}],"unknown":["\u00e9","é"]}`

// tools returns the objects of a list by name, byte for byte.
func (m message) tools() map[string]string {
	var r struct{ Tools []json.RawMessage }
	_ = json.Unmarshal(m.result, &r)
	found := map[string]string{}
	for _, raw := range r.Tools {
		var t struct{ Name string }
		_ = json.Unmarshal(raw, &t)
		found[t.Name] = string(raw)
	}
	return found
}

// running returns the tool with a function that returns its name.
func running(tool testserver.Tool) testserver.Tool {
	tool.Run = func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
		return testserver.Text(c.Name), nil
	}
	return tool
}

// TestListIsVerbatim: tool objects are forwarded byte for byte, except for their names.
func TestListIsVerbatim(t *testing.T) {
	prefix := "p"
	for _, prefixed := range []bool{false, true} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, setup{
				server: testserver.Options{Tools: append(testserver.Attack(), running(testserver.Tool{Name: "odd", Raw: json.RawMessage(odd)})), PageSize: 5},
				change: func(o *proxy.Options) {
					if prefixed {
						o.Upstreams[0].Prefix = &prefix
					}
				},
			})
			c := s.connect(l, "")
			name, want := "odd", odd
			if prefixed {
				name, want = "p_odd", strings.Replace(odd, `"name":"odd"`, `"name":"p_odd"`, 1)
			}
			list := c.list().tools()
			if got := list[name]; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if len(list) != len(testserver.Attack())+1 {
				t.Errorf("%d tools", len(list))
			}
			if r := c.must(name, `{}`); r.text() != "odd" {
				t.Errorf("%s", r.raw)
			}
		})
	}
}

// TestResultIsVerbatim: results are forwarded byte for byte; over HTTP a line break between tokens
// may become a space.
func TestResultIsVerbatim(t *testing.T) {
	results := []string{
		`{"content":[]%TYPE%,"structuredContent":{"n":12345678901234567890,"f":1.0,"e":1E2},"x":{"b":1,"a":"\u00e9\/<>&"},"_meta":{"k":-0}}`,
		`{"content":[{"type":"text","text":"a\nb` + "\u2028" + `😀"}],"isError":true%TYPE%}`,
		"{\n  \"content\": [ ]%TYPE%,\r\n\t\"x\" : 1\n}",
	}
	eachLeg(t, func(t *testing.T, l leg) {
		era, kind := testserver.Legacy, ""
		if l.modern {
			era, kind = testserver.Modern, `,"resultType":"complete"`
		}
		for _, stream := range []bool{false, true} {
			result := ""
			teller := testserver.Tool{Name: "tell", Verbatim: true, Run: func(context.Context, *testserver.Call) (json.RawMessage, error) { return json.RawMessage(result), nil }}
			s := start(t, setup{server: testserver.Options{Tools: []testserver.Tool{teller}, Stream: stream, Eras: era}})
			c := s.connect(l, "")
			for _, result = range results {
				if stream && strings.Contains(result, "\n") {
					continue // the fixture would break its own event
				}
				result = strings.Replace(result, "%TYPE%", kind, 1)
				want := strings.NewReplacer("\n", "\t", "\r", "\t").Replace(result)
				if got := string(c.do("tell", `{}`).result); got != want {
					t.Errorf("got  %q\nwant %q", got, want)
				}
			}
		}
	})
}

// TestResultsBetweenEras: between the two families only resultType changes, which the newer one
// requires and the older one does not know.
func TestResultsBetweenEras(t *testing.T) {
	const rest = `"content":[],"x":{"n":1.0, "resultType":"mine"}`
	eachLeg(t, func(t *testing.T, l leg) {
		era, result := testserver.Legacy, `{`+rest+`}`
		if !l.modern {
			era, result = testserver.Modern, `{"resultType":"complete",`+rest+`}`
		}
		s := start(t, setup{server: testserver.Options{Eras: era}})
		c := s.connect(l, "")
		r := c.do("lie", `{"result":`+result+`}`)
		if !strings.Contains(string(r.result), rest) {
			t.Errorf("%s", r.result)
		}
		if kind := at(r.result, "resultType"); l.modern && kind != `"complete"` {
			t.Errorf("resultType %s", kind)
		}
	})
}

// TestErrorIsVerbatim: an upstream's JSON-RPC error keeps its code and data, and does not look like
// the proxy's own.
func TestErrorIsVerbatim(t *testing.T) {
	errors := []string{
		`{"code":-32042,"message":"no <b>","data":{"n":1.0,"a":[1 ,2],"big":12345678901234567890}}`,
		`{"code":-32602,"message":"bad arguments"}`,
		`{"code":-32601,"message":"no such method","data":null}`,
		`{"code":7,"message":"é","extra":true}`,
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		for _, e := range errors {
			if r := c.do("lie", `{"error":`+e+`}`); string(r.err) != e {
				t.Errorf("got  %s\nwant %s", r.err, e)
			}
		}
	})
}

// TestProgress: progress comes before the result, with the client's token.
func TestProgress(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		for _, era := range []testserver.Eras{testserver.Legacy, testserver.Modern} {
			s := start(t, setup{server: testserver.Options{Eras: era}})
			c := s.connect(l, "")
			for _, token := range []string{`"my \u0074oken"`, `7`, `"7"`} {
				id := c.callWith("progress", `{"n":5}`, `"progressToken":`+token, "")
				for n := 1; n <= 5; n++ {
					m := c.await("the next message", func(m message) bool { return m.method != "" || m.id == id })
					if m.method != "notifications/progress" || at(m.params, "progressToken") != token || at(m.params, "progress") != fmt.Sprint(n) {
						t.Errorf("message %d: %s", n, m.raw)
					}
				}
				c.reply(id)
			}
			c.must("progress", `{"n":3}`) // no progress without a token
			if n := c.mail.count(func(m message) bool { return m.method == "notifications/progress" }); n != 0 {
				t.Errorf("progress that nobody asked for: %s", c.mail)
			}
			for _, r := range s.log.Records(testserver.Received) {
				if strings.Contains(string(r.Bytes), `oken"`) && !strings.Contains(string(r.Bytes), `"progressToken"`) {
					t.Errorf("the client's token reached the upstream: %s", r.Bytes)
				}
			}
		}
	})
}

// TestProgressOfTwo: if two calls use one token, each stream gets its own progress.
func TestProgressOfTwo(t *testing.T) {
	s := start(t, setup{})
	one, two := s.connect(legs()[0], ""), s.connect(legs()[3], "")
	a := one.callWith("progress", `{"n":40}`, `"progressToken":1`, "")
	b := two.callWith("progress", `{"n":50}`, `"progressToken":1`, "")
	one.reply(a)
	two.reply(b)
	progress := func(m message) bool { return m.method == "notifications/progress" }
	if n, m := one.mail.count(progress), two.mail.count(progress); n != 40 || m != 50 {
		t.Errorf("%d and %d notifications, want 40 and 50", n, m)
	}
}

// TestListChanged: clients that know a list are notified of its changes: those with a handshake
// automatically, others on their subscriptions.
func TestListChanged(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		s.awaitSubscribed()
		c := s.connect(l, "")
		c.list()
		listen := ""
		if l.modern {
			listen = c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"toolsListChanged":true}}}`)
			ack := c.await("the acknowledgement", func(m message) bool { return m.method == "notifications/subscriptions/acknowledged" })
			if at(ack.params, "_meta", "io.modelcontextprotocol/subscriptionId") != listen || at(ack.params, "notifications", "toolsListChanged") != "true" {
				t.Errorf("%s", ack.raw)
			}
		}
		c.listenToPushes()
		s.upstream.AddTool(running(testserver.Tool{Name: "fresh"}))
		m := c.await("list_changed", func(m message) bool { return m.method == "notifications/tools/list_changed" })
		if l.modern && at(m.params, "_meta", "io.modelcontextprotocol/subscriptionId") != listen {
			t.Errorf("%s", m.raw)
		}
		c.must("fresh", `{}`)
		if c.list().tools()["fresh"] == "" {
			t.Error("the fresh tool is not listed")
		}
		if l.modern {
			c.cancel(listen)
		}
	})
}

// TestListenIsModern: older clients cannot use subscriptions/listen.
func TestListenIsModern(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		c := start(t, setup{}).connect(l, "")
		if r := c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`)); r.code() != "-32601" {
			t.Errorf("%s", r.raw)
		}
	})
}

// upstreamOf serves tools over HTTP.
func upstreamOf(t *testing.T, name string, log *testserver.Log, tools ...testserver.Tool) proxy.Upstream {
	t.Helper()
	for i := range tools {
		if tools[i].Run == nil {
			tools[i] = running(tools[i])
		}
	}
	up := httptest.NewServer(testserver.New(testserver.Options{Tools: tools, Record: log.Add}))
	t.Cleanup(func() {
		up.CloseClientConnections()
		up.Close()
	})
	return proxy.Upstream{Name: name, URL: up.URL}
}

// TestTwoUpstreams: A036, A037. Tools with the same exposed name are all omitted, and the others
// are listed under their prefixes.
func TestTwoUpstreams(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		var logs [3]testserver.Log
		s := start(t, setup{rules: "block same\nblock x.delete\n", change: func(o *proxy.Options) {
			o.Upstreams = []proxy.Upstream{
				upstreamOf(t, "x", &logs[0], testserver.Tool{Name: "delete"}, testserver.Tool{Name: "a_b"}, testserver.Tool{Name: "same"}, testserver.Tool{Name: "own"}),
				upstreamOf(t, "x_a", &logs[1], testserver.Tool{Name: "b"}, testserver.Tool{Name: "same"}),
				upstreamOf(t, "y", &logs[2], testserver.Tool{Name: "x_delete"}, testserver.Tool{Name: "x.delete"}, testserver.Tool{Name: "delete"}, testserver.Tool{Name: "own"}, testserver.Tool{Name: "own"}),
			}
		}})
		c := s.connect(l, "")
		list := c.list().tools()
		for _, name := range []string{"x_delete", "x_same", "x_own", "x_a_same", "y_x_delete", "y_delete"} {
			if list[name] == "" {
				t.Errorf("%s is not listed", name)
			}
		}
		for _, name := range []string{"x_a_b", "y_own", "delete", "same", "own", "y.delete"} {
			if list[name] != "" {
				t.Errorf("%s is listed", name)
			}
			c.unknown(name)
		}
		if left := strings.Join(s.proxy.Status().LeftOut, "\n"); strings.Count(left, "x_a_b") < 2 {
			t.Errorf("nobody is told of the collision: %s", left)
		}
		c.blocked("x_same")
		c.blocked("x_a_same") // a bare name restricts every upstream
		c.blocked("x_delete")
		c.must("y_delete", `{}`)
		c.must("y_x_delete", `{}`)
		c.must("x_own", `{}`)
		if n := logs[0].Executed("") + logs[1].Executed("") + logs[2].Executed(""); n != 3 {
			t.Errorf("%d executions", n)
		}
	})
}

// blocked is like refuses, for another upstream than the recording one.
func (c *client) blocked(tool string) {
	c.t.Helper()
	if r := c.do(tool, `{}`); !r.isError() || r.decision("kind") != "blocked" {
		c.t.Errorf("%s: %s", tool, r.raw)
	}
}

// TestLongNames: names too long for clients get a hash, and stay distinct.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", 100)
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Tools: []testserver.Tool{
			running(testserver.Tool{Name: long + "a"}), running(testserver.Tool{Name: long + "b"}), running(testserver.Tool{Name: "a.b/c"}), running(testserver.Tool{Name: "a_b_c"}),
		}}})
		c := s.connect(l, "")
		list := c.list().tools()
		if len(list) != 4 || list["a_b_c"] == "" {
			t.Fatalf("%v", list)
		}
		called := map[string]bool{}
		for name := range list {
			if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" {
				t.Errorf("exposed name %q", name)
			}
			called[c.must(name, `{}`).text()] = true
		}
		if len(called) != 4 {
			t.Errorf("%v", called)
		}
		c.unknown("a.b/c")
		c.unknown(long + "a")
	})
}

// TestLeftOutOnce: each omitted tool is logged once, even when other servers list their tools
// later.
func TestLeftOutOnce(t *testing.T) {
	var logged syncBuffer
	var log testserver.Log
	names := []string{"one", "two", "three"}
	s := start(t, setup{change: func(o *proxy.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		o.Upstreams = nil
		for _, name := range names {
			o.Upstreams = append(o.Upstreams, upstreamOf(t, name, &log, plainTool("ready"), plainTool("bad name")))
		}
	}})
	c := s.connect(legs()[1], "")
	for _, name := range names {
		s.eventually(name+" answers", func() bool { r := c.do(name+"_ready", `{}`); return r.result != nil && !r.isError() })
	}
	if n := strings.Count(logged.String(), "tool left out"); n != len(names) {
		t.Errorf("told %d times:\n%s", n, logged.String())
	}
}

// TestQuarantine: one invalid tool is omitted, and the others stay; it breaks no list.
func TestQuarantine(t *testing.T) {
	bad := []string{
		`{"name":"bad name","inputSchema":{"type":"object"}}`,
		`{"name":"","inputSchema":{"type":"object"}}`,
		`{"name":"d` + "\u0430" + `nger","inputSchema":{"type":"object"}}`,
		`{"name":"` + strings.Repeat("x", 129) + `","inputSchema":{"type":"object"}}`,
		`{"name":5,"inputSchema":{"type":"object"}}`,
		`{"inputSchema":{"type":"object"}}`,
		`{"name":"twice","name":"danger","inputSchema":{"type":"object"}}`,
		`{"name":"variant","Name":"danger","inputSchema":{"type":"object"}}`,
		`{"name":"schemaless"}`,
		`{"name":"listed","inputSchema":[]}`,
		`{"name":"broken","inputSchema":{"type":object}}`,
		`{"name":"number","inputSchema":{"type":"object","maximum":0x10}}`,
		`{"name":"surrogate","description":"\ud800","inputSchema":{"type":"object"}}`,
		`{"name":"again","inputSchema":{"type":"object","type":"string"}}`,
		`{"name":"control","description":"` + "\x01" + `","inputSchema":{"type":"object"}}`,
		`"tool"`, `null`, `[]`,
	}
	for _, raw := range bad {
		t.Run(raw[:min(len(raw), 40)], func(t *testing.T) {
			s := start(t, setup{server: testserver.Options{Tools: append(testserver.Attack(), running(testserver.Tool{Name: "never", Raw: json.RawMessage(raw)}))}})
			c := s.connect(legs()[0], "")
			m := c.list()
			if !json.Valid(m.raw) {
				t.Fatalf("the list is broken by %s", raw)
			}
			if list := m.tools(); len(list) != len(testserver.Attack()) {
				t.Errorf("%d tools are listed, want %d, with %s", len(list), len(testserver.Attack()), raw)
			}
			if left := s.proxy.Status().LeftOut; len(left) != 1 {
				t.Errorf("left out: %q", left)
			}
			c.must("safe", `{}`)
		})
	}
}
