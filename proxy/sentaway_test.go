package proxy_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestVisitIsOver: the client whose user was sent to a URL is notified of the completion, whether a
// request or an error sent the user there; other clients are not.
func TestVisitIsOver(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		const done, visit = "notifications/elicitation/complete", `{"mode":"url","elicitationId":"\u0065-1","url":"https://example.com/?a=1&b=2","message":"<Sign in>"}`
		demand := testserver.Tool{Name: "demand", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
			return nil, &testserver.Error{Raw: json.RawMessage(`{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"e-2"}]}}`)}
		}}
		s := start(t, setup{server: testserver.Options{Eras: testserver.Legacy, Tools: []testserver.Tool{curious("elicitation/create", visit), demand}}})
		s.awaitSubscribed()
		c, other := s.connect(l, canAll), s.connect(l, canAll)
		c.listenToPushes()
		other.listenToPushes()
		id := c.call("curious", `{}`)
		c.respond(c.questioned("elicitation/create").id, `{"action":"accept"}`)
		c.reply(id)
		c.do("demand", `{}`)
		for _, params := range []string{`{"elicitationId":"e-1","x":1.0}`, `{"x":-0,"elicitationId":"e-2"}`} {
			s.upstream.Notify(done, params)
			differ(t, "the end", string(c.questioned(done).params), params)
		}
		s.upstream.Notify(done, `{"elicitationId":"e-3"}`)
		s.tell(`"last"`)
		for _, each := range []*client{c, other} {
			each.questioned("notifications/message")
			if n := each.mail.count(func(m message) bool { return m.method == done }); n != 0 {
				t.Errorf("%s", each.mail)
			}
		}
	})
}

// TestVisitWithoutID: a client of 2025-11-25 that an upstream of 2026-07-28 sends to a URL gets the
// required elicitationId, a different one each time.
func TestVisitWithoutID(t *testing.T) {
	const visit = `{"mode":"url","message":"Go \u003c","url":"https://example.com/x"}`
	legacyLegs(t, func(t *testing.T, l leg) {
		asks := testserver.Tool{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			if c.Params["inputResponses"] == nil {
				return json.RawMessage(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":` + visit + `}},"requestState":"s"}`), nil
			}
			return json.RawMessage(`{"resultType":"complete","content":[],"heard":` + at(c.Params["inputResponses"], "a") + `}`), nil
		}}
		s := start(t, setup{policy: netPolicy(t), server: testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{asks}}})
		c := s.connect(l, canAll)
		seen := map[string]bool{}
		for range 2 {
			call := c.call("curious", `{}`)
			q := c.questioned("elicitation/create")
			id := at(q.params, "elicitationId")
			differ(t, "question", string(q.params), visit[:len(visit)-1]+`,"elicitationId":`+id+`}`)
			if len(id) != 34 || seen[id] {
				t.Errorf("the id is %s", id)
			}
			seen[id] = true
			c.respond(q.id, `{"action":"accept"}`)
			differ(t, "answer", at(c.reply(call).result, "heard"), `{"action":"accept"}`)
		}
	})
}
