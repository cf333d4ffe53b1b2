package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestVisitIsOver: the client whose user was sent to a URL is notified of the completion, whether a
// request or an error sent the user there; other clients are not.
func TestVisitIsOver(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		const done, visit = "notifications/elicitation/complete", `{"mode":"url","elicitationId":"\u0065-1","url":"https://example.com/?a=1&b=2","message":"<Sign in>"}`
		demand := testserver.Tool{Name: "demand", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
			return nil, &testserver.Error{Raw: json.RawMessage(`{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"e-2"}]}}`)}
		}}
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy, Tools: []testserver.Tool{proxytest.AskingTool("elicitation/create", visit), demand}}})
		s.AwaitSubscribed()
		c, other := s.Connect(l, proxytest.CanAll), s.Connect(l, proxytest.CanAll)
		c.ListenToPushes()
		other.ListenToPushes()
		id := c.Call("curious", `{}`)
		c.Respond(c.AwaitRequest("elicitation/create").ID, `{"action":"accept"}`)
		c.Reply(id)
		c.Do("demand", `{}`)
		for _, params := range []string{`{"elicitationId":"e-1","x":1.0}`, `{"x":-0,"elicitationId":"e-2"}`} {
			s.Upstream.Notify(done, params)
			proxytest.CompareText(t, "the end", string(c.AwaitRequest(done).Params), params)
		}
		s.Upstream.Notify(done, `{"elicitationId":"e-3"}`)
		s.SendLog(`"last"`)
		for _, each := range []*proxytest.Client{c, other} {
			each.AwaitRequest("notifications/message")
			if n := each.Mail.Count(func(m proxytest.Message) bool { return m.Method == done }); n != 0 {
				t.Errorf("%s", each.Mail)
			}
		}
	})
}

// TestVisitWithoutID: a client of 2025-11-25 that an upstream of 2026-07-28 sends to a URL gets the
// required elicitationId, a different one each time.
func TestVisitWithoutID(t *testing.T) {
	const visit = `{"mode":"url","message":"Go \u003c","url":"https://example.com/x"}`
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		asks := testserver.Tool{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			if c.Params["inputResponses"] == nil {
				return json.RawMessage(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":` + visit + `}},"requestState":"s"}`), nil
			}
			return json.RawMessage(`{"resultType":"complete","content":[],"heard":` + proxytest.Member(c.Params["inputResponses"], "a") + `}`), nil
		}}
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{asks}}})
		c := s.Connect(l, proxytest.CanAll)
		seen := map[string]bool{}
		for range 2 {
			call := c.Call("curious", `{}`)
			q := c.AwaitRequest("elicitation/create")
			id := proxytest.Member(q.Params, "elicitationId")
			proxytest.CompareText(t, "question", string(q.Params), visit[:len(visit)-1]+`,"elicitationId":`+id+`}`)
			if len(id) != 34 || seen[id] {
				t.Errorf("the id is %s", id)
			}
			seen[id] = true
			c.Respond(q.ID, `{"action":"accept"}`)
			proxytest.CompareText(t, "answer", proxytest.Member(c.Reply(call).Result, "heard"), `{"action":"accept"}`)
		}
	})
}
