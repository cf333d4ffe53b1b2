package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestFidelityOfNotifications: an upstream's notifications about a call reach the client of that
// call before the answer, with the client's own token and otherwise unchanged.
func TestFidelityOfNotifications(t *testing.T) {
	t.Parallel()
	progress := `{"x":1.0, "progressToken" : %TOKEN%,"progress":1E400,"total":-0,"message":"\u00e9\/","_meta":` + strange + `}`
	notes := map[string][]string{"notifications/progress": {progress}}
	for _, value := range hostileValues() {
		notes["notifications/message"] = append(notes["notifications/message"], `{"level":"alert","logger":null,"data":`+value+`,"_meta":`+strange+`,"x":`+value+`}`)
	}
	eachWay(t, func(t *testing.T, l leg, o testserver.Options) {
		var method, params string
		o.Tools = []testserver.Tool{{Name: "tell", Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			token := at(c.Params["_meta"], "progressToken")
			c.Send([]byte(`{"jsonrpc":"2.0","method":"` + method + `","params":` + strings.Replace(params, "%TOKEN%", token, 1) + `}`))
			return testserver.Text("told"), nil
		}}}
		meta := `"progressToken":"\u0074"`
		if l.modern {
			meta += `,"io.modelcontextprotocol/logLevel":"debug"`
		}
		through(t, l, o, func(c *client) {
			for method = range notes {
				for _, params = range notes[method] {
					id := c.callWith("tell", `{}`, meta, "")
					got := c.await("the next message", func(m message) bool { return m.method != "" || m.id == id })
					differ(t, method, string(got.raw), `{"jsonrpc":"2.0","method":"`+method+`","params":`+strings.Replace(params, "%TOKEN%", `"\u0074"`, 1)+`}`)
					c.reply(id)
				}
			}
		})
	})
}

// TestFidelityOfNews: an upstream's notifications outside of calls.
func TestFidelityOfNews(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Capabilities: whole, Methods: map[string]testserver.Method{"resources/subscribe": says(`{}`)}}})
		s.awaitSubscribed()
		c := s.connect(l, "")
		c.listenToPushes()
		c.request("resources/subscribe", `"uri":"test://x"`)
		for _, value := range hostileValues() {
			for method, params := range map[string]string{
				"notifications/message":           `{"level":"emergency","data":` + value + `,"_meta":` + strange + `}`,
				"notifications/resources/updated": `{"x":` + value + `,"uri":"test:\/\/x","title":1.0,"_meta":` + strange + `}`,
			} {
				s.upstream.Notify(method, params)
				got := c.await(method, func(m message) bool { return m.method == method })
				differ(t, method, string(got.raw), `{"jsonrpc":"2.0","method":"`+method+`","params":`+params+`}`)
			}
		}
	})
}

// questions are servers' requests, with params that have unknown members.
func questions() map[string]string {
	all := together(hostileValues()[:40])
	return map[string]string{
		"elicitation/create":     `{"mode":"form","message":"Who? \u003c😀","requestedSchema":` + keywords() + `,"x":` + all + `,"_meta":` + strange + `}`,
		"sampling/createMessage": `{"messages":[{"role":"user","content":[` + strings.Join(contents(), ",") + `]}],"maxTokens":1e2,"tools":[` + hostileTools()[0] + `],"toolChoice":{"mode":"auto","x":-0},"temperature":0.10,"metadata":` + all + `}`,
		"roots/list":             `{"x":` + all + `}`,
	}
}

// answersTo are clients' answers to them.
func answersTo() []string {
	list := []string{
		`{"action":"accept","content":` + together(hostileValues()[:40]) + `,"_meta":` + strange + `}`,
		`{"model":"m\u00f6del","role":"assistant","stopReason":null,"content":` + contents()[0] + `}`,
		`{"roots":[{"uri":"file:\/\/\/a%20b","name":"\u00e9","_meta":` + strange + `,"x":1.0}]}`, `{}`,
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
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious(method, params)}}})
			c := s.connect(l, canAll)
			for _, answer := range answersTo() {
				id := c.call("curious", `{}`)
				if l.modern {
					r := c.reply(id)
					question := `{"method":"` + method + `","params":` + params + `}`
					differ(t, "question", at(r.result, "inputRequests"), `{"request-1":`+question+`}`)
					id = c.callWith("curious", `{}`, "", `,"inputResponses":{"request-1":`+answer+`},"requestState":`+at(r.result, "requestState"))
				} else {
					q := c.questioned(method)
					differ(t, "question", string(q.raw), `{"jsonrpc":"2.0","id":`+q.id+`,"method":"`+method+`","params":`+params+`}`)
					c.respond(q.id, answer)
				}
				heard := at(c.reply(id).result, "heard")
				differ(t, "answer", heard, answered(at([]byte(heard), "id"), "result", answer))
			}
			if l.modern {
				return // its answers are not errors
			}
			for _, failure := range failures()[:27] {
				id := c.call("curious", `{}`)
				c.fail(c.questioned(method).id, failure)
				heard := at(c.reply(id).result, "heard")
				differ(t, "failure", heard, answered(at([]byte(heard), "id"), "error", failure))
			}
		})
	}
}

// fail answers a request of the proxy with an error.
func (c *client) fail(id, failure string) {
	c.send([]byte(answered(id, "error", failure)), nil)
	if c.leg.http {
		c.await("202", func(m message) bool { return m.status == http.StatusAccepted })
	}
}

// TestFidelityOfRounds: the same for an upstream of 2026-07-28.
func TestFidelityOfRounds(t *testing.T) {
	t.Parallel()
	asked := questions()
	requests := `{"\u0061":{"method":"elicitation/create","params":` + asked["elicitation/create"] + `},"b":{ "method":"sampling/createMessage" ,"x":1.0,"params":` + asked["sampling/createMessage"] +
		`},"c d":{"method":"roots/list","params":` + asked["roots/list"] + `}}`
	around := `{"resultType":"input_required","inputRequests":` + requests + `,"x":-0,"requestState":"st\u00e4te","_meta":` + strange + `}`
	eachLeg(t, func(t *testing.T, l leg) {
		var heard string
		s := start(t, setup{server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			if heard = string(c.Params["inputResponses"]); heard == "" {
				return json.RawMessage(around), nil
			}
			return json.RawMessage(`{"content":[],"resultType":"complete"}`), nil
		}}}}})
		c := s.connect(l, canAll)
		for _, answer := range answersTo() {
			id := c.call("curious", `{}`)
			want := `{"a":` + answer + `,"b":` + answer + `,"c d":` + answer + `}`
			if l.modern {
				r := c.reply(id)
				state := at(r.result, "requestState")
				differ(t, "round", strings.Replace(string(r.result), state, `"st\u00e4te"`, 1), around)
				id = c.callWith("curious", `{}`, "", `,"inputResponses":`+want+`,"requestState":`+state)
			} else {
				for _, method := range []string{"elicitation/create", "sampling/createMessage", "roots/list"} {
					q := c.questioned(method)
					differ(t, "question", string(q.params), asked[method])
					c.respond(q.id, answer)
				}
			}
			c.reply(id)
			differ(t, "answers", heard, want)
		}
	})
}

// TestFidelityOfCancellations: the reason of a cancellation reaches the other side, in both
// directions.
func TestFidelityOfCancellations(t *testing.T) {
	const reason = `"the p\u00e9rson \u003c went\nhome 😀"`
	legacyLegs(t, func(t *testing.T, l leg) {
		asks := testserver.Tool{Name: "asks", Run: func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, _ = c.Ask(ctx, "elicitation/create", asksName) // the request with the id 1
			c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":` + reason + `}}`))
			<-c.Released
			return testserver.Text("asked"), nil
		}}
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Tools: append(testserver.Attack(), asks)}})
		c := s.connect(l, canAll)
		id := c.call("asks", `{}`)
		q := c.questioned("elicitation/create")
		told := c.questioned("notifications/cancelled")
		if at(told.params, "requestId") != q.id || at(told.params, "reason") != `"the pérson <`+" went\\nhome 😀"+`"` {
			t.Errorf("%s", told.raw)
		}
		s.upstream.Release()
		c.reply(id)
		id = c.call("slow", `{}`)
		s.awaitExecuted("slow", 1)
		c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":`+reason+`}}`), nil)
		s.eventually("the upstream is told", func() bool { return strings.Contains(s.received("notifications/cancelled"), "home 😀") })
		c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"_meta":`+strange+`}}`), nil)
		s.eventually("the upstream is told", func() bool { return strings.Contains(s.received("notifications/roots/list_changed"), strange) })
	})
}

// TestLogsOverStdio: over stdio log messages do not name their calls. They go to the client of
// 2026-07-28 with calls there, if it is the only one.
func TestLogsOverStdio(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		up, _ := child(t, "--era "+era)
		s := start(t, setup{change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.connect(legs()[3], "")
		for _, level := range []string{"debug", "error", ""} {
			meta, want := "", 0
			if level != "" {
				meta = `"io.modelcontextprotocol/logLevel":"` + level + `"`
			}
			if level == "debug" {
				want = 3
			}
			c.reply(c.callWith("log", `{"n":3}`, meta, ""))
			got := c.mail.count(func(m message) bool { return m.method == "notifications/message" })
			for range got {
				c.questioned("notifications/message")
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
		up, records := child(t, "--era "+era)
		s := start(t, setup{policy: netPolicy(t), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.connect(legs()[2], "")
		isNote := func(m message) bool { return m.method == "notifications/message" }
		busy := func(c *client, n int) (call string) {
			call = c.callWith("slow", `{}`, debug, "")
			s.eventually("it has begun", func() bool { return len(ofKind(records(), testserver.Executed, "slow")) == n })
			return call
		}
		first := busy(c, 1)
		c.reply(c.callWith("log", `{"n":3}`, debug, ""))
		for range 3 {
			c.await("a log message", isNote)
		}
		other := s.connect(legs()[0], "")
		second := busy(other, 2)
		c.reply(c.callWith("log", `{"n":3}`, debug, ""))
		if n := c.mail.count(isNote); n != 0 {
			t.Errorf("%s: %d messages that may be another's", era, n)
		}
		c.must("release", `{}`)
		c.reply(first)
		other.reply(second)
	}
}
