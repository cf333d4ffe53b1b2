package pipeline_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestUpstreamAsks: a request of an upstream of 2025-11-25 during a call goes to the client of that
// call, and the answer back, byte for byte; a client of 2026-07-28 gets it as a round of the call.
func TestUpstreamAsks(t *testing.T) {
	for method, params := range map[string]string{
		"elicitation/create":     proxytest.AsksName,
		"sampling/createMessage": `{"messages":[{"role":"user","content":{"type":"text","text":"1 < 2"}}],"maxTokens":1e2}`,
		"roots/list":             `{"x":1.0}`,
	} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{Rules: "limit curious to 1 per session\n", Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool(method, params)}}})
			c := s.Connect(l, proxytest.CanAll)
			id := c.Call("curious", `{}`)
			if l.Modern {
				r := c.Reply(id)
				question := proxytest.Member(r.Result, "inputRequests", "request-1")
				if proxytest.Member([]byte(question), "method") != `"`+method+`"` || proxytest.Member([]byte(question), "params") != params {
					t.Fatalf("%s", r.Raw)
				}
				id = c.CallWith("curious", `{}`, "", `,"inputResponses":{"request-1":`+proxytest.NameGiven+`},"requestState":`+proxytest.Member(r.Result, "requestState"))
			} else {
				q := c.AwaitRequest(method)
				if string(q.Params) != params || q.ID == "1" {
					t.Errorf("%s", q.Raw)
				}
				c.Respond(q.ID, proxytest.NameGiven)
			}
			if r := c.Reply(id); proxytest.Member(r.Result, "heard", "result") != proxytest.NameGiven {
				t.Errorf("%s", r.Raw)
			}
			s.Executed("curious", 1) // one call and one token for all rounds
			c.CallBlocked("curious")
			if n := s.OpenCalls(); n != 0 {
				t.Errorf("%d calls are open", n)
			}
		})
	}
}

// TestAskedWithoutParams: a request without params gets params for a client of 2026-07-28, since
// some clients cannot read it otherwise.
func TestAskedWithoutParams(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool("roots/list", "")}}})
		c := s.Connect(l, proxytest.CanAll)
		id := c.Call("curious", `{}`)
		if l.Modern {
			r := c.Reply(id)
			if got := proxytest.Member(r.Result, "inputRequests", "request-1"); got != `{"method":"roots/list","params":{}}` {
				t.Fatalf("%s", r.Raw)
			}
			id = c.CallWith("curious", `{}`, "", `,"inputResponses":{"request-1":{"roots":[]}},"requestState":`+proxytest.Member(r.Result, "requestState"))
		} else {
			c.Respond(c.AwaitRequest("roots/list").ID, `{"roots":[]}`)
		}
		if r := c.Reply(id); proxytest.Member(r.Result, "heard", "result") != `{"roots":[]}` {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestUpstreamAsksInVain: a client that did not declare the capability is not asked.
func TestUpstreamAsksInVain(t *testing.T) {
	for method, capabilities := range map[string]string{"elicitation/create": `{"sampling":{}}`, "sampling/createMessage": proxytest.CanElicit, "roots/list": `{}`} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool(method, proxytest.AsksName)}}})
			c := s.Connect(l, capabilities)
			if r := c.Do("curious", `{}`); proxytest.Member(r.Result, "heard", "error", "code") != "-32601" {
				t.Errorf("%s", r.Raw)
			}
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method != "" }); n != 0 {
				t.Errorf("%s", c.Mail)
			}
		})
	}
}

// TestAnswerOfAnotherClient: a client cannot answer a request to another session.
func TestAnswerOfAnotherClient(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool("elicitation/create", proxytest.AsksName)}}})
		c := s.Connect(l, proxytest.CanAll)
		other := s.Connect(proxytest.Legs()[1], proxytest.CanAll)
		id := c.Call("curious", `{}`)
		q := c.AwaitRequest("elicitation/create")
		other.Respond(q.ID, `{"action":"decline"}`)
		c.Respond(q.ID, proxytest.NameGiven)
		if r := c.Reply(id); proxytest.Member(r.Result, "heard", "result") != proxytest.NameGiven {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestAskingEndsWithTheCall: when a client cancels its call, its answers are no longer awaited.
func TestAskingEndsWithTheCall(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool("elicitation/create", proxytest.AsksName)}}})
		c := s.Connect(l, proxytest.CanAll)
		id := c.Call("curious", `{}`)
		q := c.AwaitRequest("elicitation/create")
		c.Cancel(id)
		s.Eventually("the call is settled", func() bool { return len(s.Records.Outcomes()) > 0 })
		c.Respond(q.ID, proxytest.NameGiven) // answer to a request that is over
		s.Eventually("the upstream knows", func() bool { return len(s.Log.Records(testserver.Cancelled)) == 1 })
	})
}

// TestRounds: an input request of an upstream of 2026-07-28 reaches the client in the form of its
// own revision, and the gate sees a single call.
func TestRounds(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit curious to 1 per session\n", Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}}})
		c := s.Connect(l, proxytest.CanAll)
		id := c.Call("curious", `{"a":1}`)
		if l.Modern {
			r := c.Reply(id)
			if proxytest.Member(r.Result, "inputRequests", "who", "params") != proxytest.AsksName || strings.Contains(string(r.Raw), "00e4") || proxytest.Member(r.Result, "x") != "1.0" {
				t.Fatalf("%s", r.Raw)
			}
			state := proxytest.Member(r.Result, "requestState")
			again := `,"inputResponses":{"who":` + proxytest.NameGiven + `},"requestState":`
			for args, bad := range map[string]string{`{"a":1}`: `"x` + state[1:], `{"a":2}`: state} { // forged, and from another call
				if r := c.Reply(c.CallWith("curious", args, "", again+bad)); r.Result != nil && proxytest.Member(r.Result, "resultType") != `"complete"` || r.Result != nil && !r.IsError() {
					t.Errorf("%s: %s", bad, r.Raw)
				}
			}
			id = c.CallWith("curious", `{"a":1}`, "", again+state)
		} else {
			q := c.AwaitRequest("elicitation/create")
			if string(q.Params) != proxytest.AsksName {
				t.Errorf("%s", q.Raw)
			}
			c.Respond(q.ID, proxytest.NameGiven)
		}
		r := c.Reply(id)
		if proxytest.Member(r.Result, "heard") != proxytest.NameGiven || proxytest.Member(r.Result, "state") != `"stäte"` {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("curious", 2)
		c.CallBlocked("curious")
	})
}

// TestForgedState: A094. A state that the proxy did not seal reaches no upstream.
func TestForgedState(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}}})
		c := s.Connect(l, proxytest.CanAll)
		for _, state := range []string{`"st\u00e4te"`, `""`, `"AAAA"`} {
			if r := c.Reply(c.CallWith("curious", `{}`, "", `,"inputResponses":{},"requestState":`+state)); r.Code() != "-32602" {
				t.Errorf("%s", r.Raw)
			}
		}
		s.Executed("", 0)
	})
}
