package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

const (
	canAll    = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`
	asksName  = `{"message":"Who? \u003c","requestedSchema":{"type":"object","properties":{"n":{"type":"string","x":1.0}}}}`
	nameGiven = `{"action":"accept","content":{"n":"\u00e9","k":12345678901234567890}}`
)

// curious is a tool of 2025-11-25 that asks its client, and returns the answer.
func curious(method, params string) testserver.Tool {
	return testserver.Tool{Name: "curious", Run: func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
		answer, err := c.Ask(ctx, method, params)
		if err != nil {
			return nil, err
		}
		return json.RawMessage(`{"content":[],"heard":` + string(answer) + `}`), nil
	}}
}

// respond answers a request of the proxy.
func (c *client) respond(id, result string) {
	c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+result+`}`), nil)
	if c.leg.http {
		c.await("202", func(m message) bool { return m.status == http.StatusAccepted })
	}
}

// questioned waits for a request of the proxy.
func (c *client) questioned(method string) message {
	c.t.Helper()
	return c.await(method, func(m message) bool { return m.method == method })
}

// TestUpstreamAsks: a request of an upstream of 2025-11-25 during a call goes to the client of that
// call, and the answer back, byte for byte; a client of 2026-07-28 gets it as a round of the call.
func TestUpstreamAsks(t *testing.T) {
	for method, params := range map[string]string{
		"elicitation/create":     asksName,
		"sampling/createMessage": `{"messages":[{"role":"user","content":{"type":"text","text":"1 < 2"}}],"maxTokens":1e2}`,
		"roots/list":             `{"x":1.0}`,
	} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, setup{rules: "limit curious to 1 per session\n", server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious(method, params)}}})
			c := s.connect(l, canAll)
			id := c.call("curious", `{}`)
			if l.modern {
				r := c.reply(id)
				question := at(r.result, "inputRequests", "request-1")
				if at([]byte(question), "method") != `"`+method+`"` || at([]byte(question), "params") != params {
					t.Fatalf("%s", r.raw)
				}
				id = c.callWith("curious", `{}`, "", `,"inputResponses":{"request-1":`+nameGiven+`},"requestState":`+at(r.result, "requestState"))
			} else {
				q := c.questioned(method)
				if string(q.params) != params || q.id == "1" {
					t.Errorf("%s", q.raw)
				}
				c.respond(q.id, nameGiven)
			}
			if r := c.reply(id); at(r.result, "heard", "result") != nameGiven {
				t.Errorf("%s", r.raw)
			}
			s.executed("curious", 1) // one call and one token for all rounds
			c.blocked("curious")
			if n := s.openCalls(); n != 0 {
				t.Errorf("%d calls are open", n)
			}
		})
	}
}

// TestAskedWithoutParams: a request without params gets params for a client of 2026-07-28, since
// some clients cannot read it otherwise.
func TestAskedWithoutParams(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious("roots/list", "")}}})
		c := s.connect(l, canAll)
		id := c.call("curious", `{}`)
		if l.modern {
			r := c.reply(id)
			if got := at(r.result, "inputRequests", "request-1"); got != `{"method":"roots/list","params":{}}` {
				t.Fatalf("%s", r.raw)
			}
			id = c.callWith("curious", `{}`, "", `,"inputResponses":{"request-1":{"roots":[]}},"requestState":`+at(r.result, "requestState"))
		} else {
			c.respond(c.questioned("roots/list").id, `{"roots":[]}`)
		}
		if r := c.reply(id); at(r.result, "heard", "result") != `{"roots":[]}` {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestUpstreamAsksInVain: a client that did not declare the capability is not asked.
func TestUpstreamAsksInVain(t *testing.T) {
	for method, capabilities := range map[string]string{"elicitation/create": `{"sampling":{}}`, "sampling/createMessage": canElicit, "roots/list": `{}`} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious(method, asksName)}}})
			c := s.connect(l, capabilities)
			if r := c.do("curious", `{}`); at(r.result, "heard", "error", "code") != "-32601" {
				t.Errorf("%s", r.raw)
			}
			if n := c.mail.count(func(m message) bool { return m.method != "" }); n != 0 {
				t.Errorf("%s", c.mail)
			}
		})
	}
}

// TestAnswerOfAnotherClient: a client cannot answer a request to another session.
func TestAnswerOfAnotherClient(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious("elicitation/create", asksName)}}})
		c := s.connect(l, canAll)
		other := s.connect(legs()[1], canAll)
		id := c.call("curious", `{}`)
		q := c.questioned("elicitation/create")
		other.respond(q.id, `{"action":"decline"}`)
		c.respond(q.id, nameGiven)
		if r := c.reply(id); at(r.result, "heard", "result") != nameGiven {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestAskingEndsWithTheCall: when a client cancels its call, its answers are no longer awaited.
func TestAskingEndsWithTheCall(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious("elicitation/create", asksName)}}})
		c := s.connect(l, canAll)
		id := c.call("curious", `{}`)
		q := c.questioned("elicitation/create")
		c.cancel(id)
		s.eventually("the call is settled", func() bool { return len(s.records.outcomes()) > 0 })
		c.respond(q.id, nameGiven) // answer to a request that is over
		s.eventually("the upstream knows", func() bool { return len(s.log.Records(testserver.Cancelled)) == 1 })
	})
}

// rounds is a tool of 2026-07-28 that asks for input and checks it.
func rounds() testserver.Tool {
	return testserver.Tool{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
		state := string(c.Params["requestState"])
		if state == "" {
			return json.RawMessage(`{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":` + asksName +
				`}},"requestState":"st\u00e4te","x":1.0}`), nil
		}
		return json.RawMessage(`{"resultType":"complete","content":[],"heard":` + at(c.Params["inputResponses"], "who") + `,"state":` + state + `}`), nil
	}}
}

// TestRounds: an input request of an upstream of 2026-07-28 reaches the client in the form of its
// own revision, and the gate sees a single call.
func TestRounds(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "limit curious to 1 per session\n", server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}}})
		c := s.connect(l, canAll)
		id := c.call("curious", `{"a":1}`)
		if l.modern {
			r := c.reply(id)
			if at(r.result, "inputRequests", "who", "params") != asksName || strings.Contains(string(r.raw), "00e4") || at(r.result, "x") != "1.0" {
				t.Fatalf("%s", r.raw)
			}
			state := at(r.result, "requestState")
			again := `,"inputResponses":{"who":` + nameGiven + `},"requestState":`
			for args, bad := range map[string]string{`{"a":1}`: `"x` + state[1:], `{"a":2}`: state} { // forged, and from another call
				if r := c.reply(c.callWith("curious", args, "", again+bad)); r.result != nil && at(r.result, "resultType") != `"complete"` || r.result != nil && !r.isError() {
					t.Errorf("%s: %s", bad, r.raw)
				}
			}
			id = c.callWith("curious", `{"a":1}`, "", again+state)
		} else {
			q := c.questioned("elicitation/create")
			if string(q.params) != asksName {
				t.Errorf("%s", q.raw)
			}
			c.respond(q.id, nameGiven)
		}
		r := c.reply(id)
		if at(r.result, "heard") != nameGiven || at(r.result, "state") != `"stäte"` {
			t.Errorf("%s", r.raw)
		}
		s.executed("curious", 2)
		c.blocked("curious")
	})
}

// TestForgedState: A094. A state that the proxy did not seal reaches no upstream.
func TestForgedState(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}}})
		c := s.connect(l, canAll)
		for _, state := range []string{`"st\u00e4te"`, `""`, `"AAAA"`} {
			if r := c.reply(c.callWith("curious", `{}`, "", `,"inputResponses":{},"requestState":`+state)); r.code() != "-32602" {
				t.Errorf("%s", r.raw)
			}
		}
		s.executed("", 0)
	})
}
