package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// odd is a tool object that typed clients would change.
const odd = `{"title":"Odd","name":"odd","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":12345678901234567890,"x-k":1.0}},"$defs":{},"additionalProperties":false},"_meta":{"a/b":1.50},"annotations":{"readOnlyHint":true,"new":null},"icons":[{"src":"data:,<>&"}],"unknown":["\u00e9","é"]}`

// TestListIsVerbatim: tool objects are forwarded byte for byte, except for their names.
func TestListIsVerbatim(t *testing.T) {
	prefix := "p"
	for _, prefixed := range []bool{false, true} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{
				Server: testserver.Options{Tools: append(testserver.Attack(), proxytest.Runnable(testserver.Tool{Name: "odd", Raw: json.RawMessage(odd)})), PageSize: 5},
				Change: func(o *proxy.Options) {
					if prefixed {
						o.Upstreams[0].Prefix = &prefix
					}
				},
			})
			c := s.Connect(l, "")
			name, want := "odd", odd
			if prefixed {
				name, want = "p_odd", strings.Replace(odd, `"name":"odd"`, `"name":"p_odd"`, 1)
			}
			list := c.List().ToolsByName()
			if got := list[name]; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if len(list) != len(testserver.Attack())+1 {
				t.Errorf("%d tools", len(list))
			}
			if r := c.Must(name, `{}`); r.Text() != "odd" {
				t.Errorf("%s", r.Raw)
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		era, kind := testserver.Legacy, ""
		if l.Modern {
			era, kind = testserver.Modern, `,"resultType":"complete"`
		}
		for _, stream := range []bool{false, true} {
			result := ""
			teller := testserver.Tool{Name: "tell", Verbatim: true, Run: func(context.Context, *testserver.Call) (json.RawMessage, error) { return json.RawMessage(result), nil }}
			s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: []testserver.Tool{teller}, Stream: stream, Revisions: era}})
			c := s.Connect(l, "")
			for _, result = range results {
				if stream && strings.Contains(result, "\n") {
					continue // the fixture would break its own event
				}
				result = strings.Replace(result, "%TYPE%", kind, 1)
				want := strings.NewReplacer("\n", "\t", "\r", "\t").Replace(result)
				if got := string(c.Do("tell", `{}`).Result); got != want {
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		era, result := testserver.Legacy, `{`+rest+`}`
		if !l.Modern {
			era, result = testserver.Modern, `{"resultType":"complete",`+rest+`}`
		}
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: era}})
		c := s.Connect(l, "")
		r := c.Do("lie", `{"result":`+result+`}`)
		if !strings.Contains(string(r.Result), rest) {
			t.Errorf("%s", r.Result)
		}
		if kind := proxytest.Member(r.Result, "resultType"); l.Modern && kind != `"complete"` {
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		for _, e := range errors {
			if r := c.Do("lie", `{"error":`+e+`}`); string(r.Error) != e {
				t.Errorf("got  %s\nwant %s", r.Error, e)
			}
		}
	})
}

// TestProgress: progress comes before the result, with the client's token.
func TestProgress(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		for _, era := range []testserver.Revisions{testserver.Legacy, testserver.Modern} {
			s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: era}})
			c := s.Connect(l, "")
			for _, token := range []string{`"my \u0074oken"`, `7`, `"7"`} {
				id := c.CallWith("progress", `{"n":5}`, `"progressToken":`+token, "")
				for n := 1; n <= 5; n++ {
					m := c.Await("the next message", func(m proxytest.Message) bool { return m.Method != "" || m.ID == id })
					if m.Method != "notifications/progress" || proxytest.Member(m.Params, "progressToken") != token || proxytest.Member(m.Params, "progress") != fmt.Sprint(n) {
						t.Errorf("message %d: %s", n, m.Raw)
					}
				}
				c.Reply(id)
			}
			c.Must("progress", `{"n":3}`) // no progress without a token
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "notifications/progress" }); n != 0 {
				t.Errorf("progress that nobody asked for: %s", c.Mail)
			}
			for _, r := range s.Log.Records(testserver.Received) {
				if strings.Contains(string(r.Bytes), `oken"`) && !strings.Contains(string(r.Bytes), `"progressToken"`) {
					t.Errorf("the client's token reached the upstream: %s", r.Bytes)
				}
			}
		}
	})
}

// TestProgressOfTwo: if two calls use one token, each stream gets its own progress.
func TestProgressOfTwo(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	one, two := s.Connect(proxytest.Legs()[0], ""), s.Connect(proxytest.Legs()[3], "")
	a := one.CallWith("progress", `{"n":40}`, `"progressToken":1`, "")
	b := two.CallWith("progress", `{"n":50}`, `"progressToken":1`, "")
	one.Reply(a)
	two.Reply(b)
	progress := func(m proxytest.Message) bool { return m.Method == "notifications/progress" }
	if n, m := one.Mail.Count(progress), two.Mail.Count(progress); n != 40 || m != 50 {
		t.Errorf("%d and %d notifications, want 40 and 50", n, m)
	}
}

// TestListChanged: clients that know a list are notified of its changes: those with a handshake
// automatically, others on their subscriptions.
func TestListChanged(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		s.AwaitSubscribed()
		c := s.Connect(l, "")
		c.List()
		listen := ""
		if l.Modern {
			listen = c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"toolsListChanged":true}}}`)
			ack := c.Await("the acknowledgement", func(m proxytest.Message) bool { return m.Method == "notifications/subscriptions/acknowledged" })
			if proxytest.Member(ack.Params, "_meta", "io.modelcontextprotocol/subscriptionId") != listen || proxytest.Member(ack.Params, "notifications", "toolsListChanged") != "true" {
				t.Errorf("%s", ack.Raw)
			}
		}
		c.ListenToPushes()
		s.Upstream.AddTool(proxytest.Runnable(testserver.Tool{Name: "fresh"}))
		m := c.Await("list_changed", func(m proxytest.Message) bool { return m.Method == "notifications/tools/list_changed" })
		if l.Modern && proxytest.Member(m.Params, "_meta", "io.modelcontextprotocol/subscriptionId") != listen {
			t.Errorf("%s", m.Raw)
		}
		c.Must("fresh", `{}`)
		if c.List().ToolsByName()["fresh"] == "" {
			t.Error("the fresh tool is not listed")
		}
		if l.Modern {
			c.Cancel(listen)
		}
	})
}

// TestListenIsModern: older clients cannot use subscriptions/listen.
func TestListenIsModern(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		c := proxytest.Start(t, proxytest.Setup{}).Connect(l, "")
		if r := c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`)); r.Code() != "-32601" {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestTwoUpstreams: A036, A037. Tools with the same exposed name are all omitted, and the others
// are listed under their prefixes.
func TestTwoUpstreams(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		var logs [3]testserver.Log
		s := proxytest.Start(t, proxytest.Setup{Rules: "block same\nblock x.delete\n", Change: func(o *proxy.Options) {
			o.Upstreams = []proxy.Upstream{
				proxytest.ServeTools(t, "x", &logs[0], testserver.Tool{Name: "delete"}, testserver.Tool{Name: "a_b"}, testserver.Tool{Name: "same"}, testserver.Tool{Name: "own"}),
				proxytest.ServeTools(t, "x_a", &logs[1], testserver.Tool{Name: "b"}, testserver.Tool{Name: "same"}),
				proxytest.ServeTools(t, "y", &logs[2], testserver.Tool{Name: "x_delete"}, testserver.Tool{Name: "x.delete"}, testserver.Tool{Name: "delete"}, testserver.Tool{Name: "own"}, testserver.Tool{Name: "own"}),
			}
		}})
		c := s.Connect(l, "")
		list := c.List().ToolsByName()
		for _, name := range []string{"x_delete", "x_same", "x_own", "x_a_same", "y_x_delete", "y_delete"} {
			if list[name] == "" {
				t.Errorf("%s is not listed", name)
			}
		}
		for _, name := range []string{"x_a_b", "y_own", "delete", "same", "own", "y.delete"} {
			if list[name] != "" {
				t.Errorf("%s is listed", name)
			}
			c.CallUnknown(name)
		}
		if left := strings.Join(s.Proxy.Status().LeftOut, "\n"); strings.Count(left, "x_a_b") < 2 {
			t.Errorf("nobody is told of the collision: %s", left)
		}
		c.CallBlocked("x_same")
		c.CallBlocked("x_a_same") // a bare name restricts every upstream
		c.CallBlocked("x_delete")
		c.Must("y_delete", `{}`)
		c.Must("y_x_delete", `{}`)
		c.Must("x_own", `{}`)
		if n := logs[0].Executed("") + logs[1].Executed("") + logs[2].Executed(""); n != 3 {
			t.Errorf("%d executions", n)
		}
	})
}

// TestLongNames: names too long for clients get a hash, and stay distinct.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("n", 100)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: []testserver.Tool{
			proxytest.Runnable(testserver.Tool{Name: long + "a"}), proxytest.Runnable(testserver.Tool{Name: long + "b"}), proxytest.Runnable(testserver.Tool{Name: "a.b/c"}), proxytest.Runnable(testserver.Tool{Name: "a_b_c"}),
		}}})
		c := s.Connect(l, "")
		list := c.List().ToolsByName()
		if len(list) != 4 || list["a_b_c"] == "" {
			t.Fatalf("%v", list)
		}
		called := map[string]bool{}
		for name := range list {
			if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" {
				t.Errorf("exposed name %q", name)
			}
			called[c.Must(name, `{}`).Text()] = true
		}
		if len(called) != 4 {
			t.Errorf("%v", called)
		}
		c.CallUnknown("a.b/c")
		c.CallUnknown(long + "a")
	})
}

// TestLeftOutOnce: each omitted tool is logged once, even when other servers list their tools
// later.
func TestLeftOutOnce(t *testing.T) {
	var logged proxytest.SyncBuffer
	var log testserver.Log
	names := []string{"one", "two", "three"}
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		o.Upstreams = nil
		for _, name := range names {
			o.Upstreams = append(o.Upstreams, proxytest.ServeTools(t, name, &log, proxytest.PlainTool("ready"), proxytest.PlainTool("bad name")))
		}
	}})
	c := s.Connect(proxytest.Legs()[1], "")
	for _, name := range names {
		s.Eventually(name+" answers", func() bool { r := c.Do(name+"_ready", `{}`); return r.Result != nil && !r.IsError() })
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
			s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: append(testserver.Attack(), proxytest.Runnable(testserver.Tool{Name: "never", Raw: json.RawMessage(raw)}))}})
			c := s.Connect(proxytest.Legs()[0], "")
			m := c.List()
			if !json.Valid(m.Raw) {
				t.Fatalf("the list is broken by %s", raw)
			}
			if list := m.ToolsByName(); len(list) != len(testserver.Attack()) {
				t.Errorf("%d tools are listed, want %d, with %s", len(list), len(testserver.Attack()), raw)
			}
			if left := s.Proxy.Status().LeftOut; len(left) != 1 {
				t.Errorf("left out: %q", left)
			}
			c.Must("safe", `{}`)
		})
	}
}
