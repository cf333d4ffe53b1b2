package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestFidelityOfNotifications: an upstream's notifications about a call reach the client of that
// call before the answer, with the client's own token and otherwise unchanged.
func TestFidelityOfNotifications(t *testing.T) {
	t.Parallel()
	progress := `{"x":1.0, "progressToken" : %TOKEN%,"progress":1E400,"total":-0,"message":"\u00e9\/","_meta":` + proxytest.UnusualMeta + `}`
	notes := map[string][]string{"notifications/progress": {progress}}
	for _, value := range hostileValues() {
		notes["notifications/message"] = append(notes["notifications/message"], `{"level":"alert","logger":null,"data":`+value+`,"_meta":`+proxytest.UnusualMeta+`,"x":`+value+`}`)
	}
	eachWay(t, func(t *testing.T, l proxytest.Leg, o testserver.Options) {
		var method, params string
		o.Tools = []testserver.Tool{{Name: "tell", Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			token := proxytest.Member(c.Params["_meta"], "progressToken")
			c.Send([]byte(`{"jsonrpc":"2.0","method":"` + method + `","params":` + strings.Replace(params, "%TOKEN%", token, 1) + `}`))
			return testserver.Text("told"), nil
		}}}
		meta := `"progressToken":"\u0074"`
		if l.Modern {
			meta += `,"io.modelcontextprotocol/logLevel":"debug"`
		}
		through(t, l, o, func(c *proxytest.Client) {
			for method = range notes {
				for _, params = range notes[method] {
					id := c.CallWith("tell", `{}`, meta, "")
					got := c.Await("the next message", func(m proxytest.Message) bool { return m.Method != "" || m.ID == id })
					proxytest.CompareText(t, method, string(got.Raw), `{"jsonrpc":"2.0","method":"`+method+`","params":`+strings.Replace(params, "%TOKEN%", `"\u0074"`, 1)+`}`)
					c.Reply(id)
				}
			}
		})
	})
}

// TestFidelityOfNews: an upstream's notifications outside of calls.
func TestFidelityOfNews(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{"resources/subscribe": proxytest.ConstantMethod(`{}`)}}})
		s.AwaitSubscribed()
		c := s.Connect(l, "")
		c.ListenToPushes()
		c.Request("resources/subscribe", `"uri":"test://x"`)
		for _, value := range hostileValues() {
			for method, params := range map[string]string{
				"notifications/message":           `{"level":"emergency","data":` + value + `,"_meta":` + proxytest.UnusualMeta + `}`,
				"notifications/resources/updated": `{"x":` + value + `,"uri":"test:\/\/x","title":1.0,"_meta":` + proxytest.UnusualMeta + `}`,
			} {
				s.Upstream.Notify(method, params)
				got := c.Await(method, func(m proxytest.Message) bool { return m.Method == method })
				proxytest.CompareText(t, method, string(got.Raw), `{"jsonrpc":"2.0","method":"`+method+`","params":`+params+`}`)
			}
		}
	})
}

// questions are servers' requests, with params that have unknown members.
func questions() map[string]string {
	all := together(hostileValues()[:40])
	return map[string]string{
		"elicitation/create":     `{"mode":"form","message":"Who? \u003c😀","requestedSchema":` + keywords() + `,"x":` + all + `,"_meta":` + proxytest.UnusualMeta + `}`,
		"sampling/createMessage": `{"messages":[{"role":"user","content":[` + strings.Join(contents(), ",") + `]}],"maxTokens":1e2,"tools":[` + hostileTools()[0] + `],"toolChoice":{"mode":"auto","x":-0},"temperature":0.10,"metadata":` + all + `}`,
		"roots/list":             `{"x":` + all + `}`,
	}
}

// answersTo are clients' answers to them.
func answersTo() []string {
	list := []string{
		`{"action":"accept","content":` + together(hostileValues()[:40]) + `,"_meta":` + proxytest.UnusualMeta + `}`,
		`{"model":"m\u00f6del","role":"assistant","stopReason":null,"content":` + contents()[0] + `}`,
		`{"roots":[{"uri":"file:\/\/\/a%20b","name":"\u00e9","_meta":` + proxytest.UnusualMeta + `,"x":1.0}]}`, `{}`,
	}
	for _, value := range hostileValues() {
		list = append(list, `{"action":"accept","content":{"v":`+value+`}}`)
	}
	return list
}

// TestFidelityOfQuestions: requests of an upstream of 2025-11-25 to its client, and the answers,
// including errors.
func TestFidelityOfQuestions(t *testing.T) {
	t.Parallel()
	for method, params := range questions() {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool(method, params)}}})
			c := s.Connect(l, proxytest.CanAll)
			for _, answer := range answersTo() {
				id := c.Call("curious", `{}`)
				if l.Modern {
					r := c.Reply(id)
					question := `{"method":"` + method + `","params":` + params + `}`
					proxytest.CompareText(t, "question", proxytest.Member(r.Result, "inputRequests"), `{"request-1":`+question+`}`)
					id = c.CallWith("curious", `{}`, "", `,"inputResponses":{"request-1":`+answer+`},"requestState":`+proxytest.Member(r.Result, "requestState"))
				} else {
					q := c.AwaitRequest(method)
					proxytest.CompareText(t, "question", string(q.Raw), `{"jsonrpc":"2.0","id":`+q.ID+`,"method":"`+method+`","params":`+params+`}`)
					c.Respond(q.ID, answer)
				}
				heard := proxytest.Member(c.Reply(id).Result, "heard")
				proxytest.CompareText(t, "answer", heard, answered(proxytest.Member([]byte(heard), "id"), "result", answer))
			}
			if l.Modern {
				return // its answers are not errors
			}
			for _, failure := range failures()[:27] {
				id := c.Call("curious", `{}`)
				fail(c, c.AwaitRequest(method).ID, failure)
				heard := proxytest.Member(c.Reply(id).Result, "heard")
				proxytest.CompareText(t, "failure", heard, answered(proxytest.Member([]byte(heard), "id"), "error", failure))
			}
		})
	}
}

// fail answers a request of the proxy with an error.
func fail(c *proxytest.Client, id, failure string) {
	c.Send([]byte(answered(id, "error", failure)), nil)
	if c.Leg.HTTP {
		c.Await("202", func(m proxytest.Message) bool { return m.Status == http.StatusAccepted })
	}
}

// TestFidelityOfRounds: the same for an upstream of 2026-07-28.
func TestFidelityOfRounds(t *testing.T) {
	t.Parallel()
	asked := questions()
	requests := `{"\u0061":{"method":"elicitation/create","params":` + asked["elicitation/create"] + `},"b":{ "method":"sampling/createMessage" ,"x":1.0,"params":` + asked["sampling/createMessage"] +
		`},"c d":{"method":"roots/list","params":` + asked["roots/list"] + `}}`
	around := `{"resultType":"input_required","inputRequests":` + requests + `,"x":-0,"requestState":"st\u00e4te","_meta":` + proxytest.UnusualMeta + `}`
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		var heard string
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			if heard = string(c.Params["inputResponses"]); heard == "" {
				return json.RawMessage(around), nil
			}
			return json.RawMessage(`{"content":[],"resultType":"complete"}`), nil
		}}}}})
		c := s.Connect(l, proxytest.CanAll)
		for _, answer := range answersTo() {
			id := c.Call("curious", `{}`)
			want := `{"a":` + answer + `,"b":` + answer + `,"c d":` + answer + `}`
			if l.Modern {
				r := c.Reply(id)
				state := proxytest.Member(r.Result, "requestState")
				proxytest.CompareText(t, "round", strings.Replace(string(r.Result), state, `"st\u00e4te"`, 1), around)
				id = c.CallWith("curious", `{}`, "", `,"inputResponses":`+want+`,"requestState":`+state)
			} else {
				for _, method := range []string{"elicitation/create", "sampling/createMessage", "roots/list"} {
					q := c.AwaitRequest(method)
					proxytest.CompareText(t, "question", string(q.Params), asked[method])
					c.Respond(q.ID, answer)
				}
			}
			c.Reply(id)
			proxytest.CompareText(t, "answers", heard, want)
		}
	})
}

// TestFidelityOfCancellations: the reason of a cancellation reaches the other side, in both
// directions.
func TestFidelityOfCancellations(t *testing.T) {
	const reason = `"the p\u00e9rson \u003c went\nhome 😀"`
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		asks := testserver.Tool{Name: "asks", Run: func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, _ = c.Ask(ctx, "elicitation/create", proxytest.AsksName) // the request with the id 1
			c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":` + reason + `}}`))
			<-c.Released
			return testserver.Text("asked"), nil
		}}
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Tools: append(testserver.Attack(), asks)}})
		c := s.Connect(l, proxytest.CanAll)
		id := c.Call("asks", `{}`)
		q := c.AwaitRequest("elicitation/create")
		told := c.AwaitRequest("notifications/cancelled")
		if proxytest.Member(told.Params, "requestId") != q.ID || proxytest.Member(told.Params, "reason") != `"the pérson <`+" went\\nhome 😀"+`"` {
			t.Errorf("%s", told.Raw)
		}
		s.Upstream.Release()
		c.Reply(id)
		id = c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 1)
		c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":`+reason+`}}`), nil)
		s.Eventually("the upstream is told", func() bool { return strings.Contains(s.LastReceived("notifications/cancelled"), "home 😀") })
		c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"_meta":`+proxytest.UnusualMeta+`}}`), nil)
		s.Eventually("the upstream is told", func() bool {
			return strings.Contains(s.LastReceived("notifications/roots/list_changed"), proxytest.UnusualMeta)
		})
	})
}

// TestLogsOverStdio: over stdio log messages do not name their calls. They go to the client of
// 2026-07-28 with calls there, if it is the only one.
func TestLogsOverStdio(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		up, _ := proxytest.ChildUpstream(t, "--era "+era)
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.Connect(proxytest.Legs()[3], "")
		for _, level := range []string{"debug", "error", ""} {
			meta, want := "", 0
			if level != "" {
				meta = `"io.modelcontextprotocol/logLevel":"` + level + `"`
			}
			if level == "debug" {
				want = 3
			}
			c.Reply(c.CallWith("log", `{"n":3}`, meta, ""))
			got := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "notifications/message" })
			for range got {
				c.AwaitRequest("notifications/message")
			}
			if got != want {
				t.Errorf("%s, level %q: %d messages, want %d", era, level, got, want)
			}
		}
	}
}

// TestLogsOfOneSession: requests over HTTP without sessions all belong to one principal, which can
// see the messages of all of them; others cannot.
func TestLogsOfOneSession(t *testing.T) {
	const debug = `"io.modelcontextprotocol/logLevel":"debug"`
	for _, era := range []string{"legacy", "modern"} {
		up, records := proxytest.ChildUpstream(t, "--era "+era)
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.Connect(proxytest.Legs()[2], "")
		isNote := func(m proxytest.Message) bool { return m.Method == "notifications/message" }
		busy := func(c *proxytest.Client, n int) (call string) {
			call = c.CallWith("slow", `{}`, debug, "")
			s.Eventually("it has begun", func() bool { return len(proxytest.OfKind(records(), testserver.Executed, "slow")) == n })
			return call
		}
		first := busy(c, 1)
		c.Reply(c.CallWith("log", `{"n":3}`, debug, ""))
		for range 3 {
			c.Await("a log message", isNote)
		}
		other := s.Connect(proxytest.Legs()[0], "")
		second := busy(other, 2)
		c.Reply(c.CallWith("log", `{"n":3}`, debug, ""))
		if n := c.Mail.Count(isNote); n != 0 {
			t.Errorf("%s: %d messages that may be another's", era, n)
		}
		c.Must("release", `{}`)
		c.Reply(first)
		other.Reply(second)
	}
}
