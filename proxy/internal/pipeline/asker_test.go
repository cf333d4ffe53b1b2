package pipeline_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestServerRequestNamesUpstream: with several upstreams, a server's request names the upstream
// that asks, whatever it claims itself, and is otherwise unchanged.
func TestServerRequestNamesUpstream(t *testing.T) {
	const lied = `{"message":"Who? \u003c","_meta":{"a/b":1.50,"io.petrigate/upstream":"bank","c":{}},"requestedSchema":{}}`
	for params, want := range map[string]string{
		proxytest.AsksName: proxytest.AsksName[:len(proxytest.AsksName)-1] + `,"_meta":{"io.petrigate/upstream":"asker"}}`,
		lied:               `{"message":"Who? \u003c","_meta":{"a/b":1.50,"c":{},"io.petrigate/upstream":"asker"},"requestedSchema":{}}`,
	} {
		proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
			tool := proxytest.AskingTool("elicitation/create", params)
			if era == testserver.Modern {
				tool = testserver.Tool{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
					if c.Params["inputResponses"] == nil {
						return json.RawMessage(`{"resultType":"input_required","inputRequests":{"request-\u0031":{"method":"elicitation/create","params":` + params + `}}}`), nil
					}
					return json.RawMessage(`{"resultType":"complete","content":[]}`), nil
				}}
			}
			s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: testserver.Options{Revisions: era}, Change: func(o *proxy.Options) {
				o.Upstreams = append(o.Upstreams, proxytest.ServeUpstream(t, "asker", testserver.Options{Revisions: era, Tools: []testserver.Tool{tool}}))
			}})
			c := s.Connect(l, proxytest.CanAll)
			id := c.Call("asker_curious", `{}`)
			if l.Modern {
				r := c.Reply(id)
				proxytest.CompareText(t, "question", proxytest.Member(r.Result, "inputRequests", "request-1", "params"), want)
				id = c.CallWith("asker_curious", `{}`, "", `,"inputResponses":{"request-1":`+proxytest.NameGiven+`},"requestState":`+proxytest.Member(r.Result, "requestState"))
			} else {
				q := c.AwaitRequest("elicitation/create")
				proxytest.CompareText(t, "question", string(q.Params), want)
				c.Respond(q.ID, proxytest.NameGiven)
			}
			if r := c.Reply(id); r.Result == nil || r.IsError() {
				t.Errorf("%s", r.Raw)
			}
		})
	}
}
