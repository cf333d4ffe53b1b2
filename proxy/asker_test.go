package proxy_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestServerRequestNamesUpstream: with several upstreams, a server's request names the upstream
// that asks, whatever it claims itself, and is otherwise unchanged.
func TestServerRequestNamesUpstream(t *testing.T) {
	const lied = `{"message":"Who? \u003c","_meta":{"a/b":1.50,"io.petrigate/upstream":"bank","c":{}},"requestedSchema":{}}`
	for params, want := range map[string]string{
		asksName: asksName[:len(asksName)-1] + `,"_meta":{"io.petrigate/upstream":"asker"}}`,
		lied:     `{"message":"Who? \u003c","_meta":{"a/b":1.50,"c":{},"io.petrigate/upstream":"asker"},"requestedSchema":{}}`,
	} {
		eachEra(t, func(t *testing.T, l leg, era testserver.Eras) {
			tool := curious("elicitation/create", params)
			if era == testserver.Modern {
				tool = testserver.Tool{Name: "curious", Verbatim: true, Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
					if c.Params["inputResponses"] == nil {
						return json.RawMessage(`{"resultType":"input_required","inputRequests":{"request-\u0031":{"method":"elicitation/create","params":` + params + `}}}`), nil
					}
					return json.RawMessage(`{"resultType":"complete","content":[]}`), nil
				}}
			}
			s := start(t, setup{policy: netPolicy(t), server: testserver.Options{Eras: era}, change: func(o *proxy.Options) {
				o.Upstreams = append(o.Upstreams, serving(t, "asker", testserver.Options{Eras: era, Tools: []testserver.Tool{tool}}))
			}})
			c := s.connect(l, canAll)
			id := c.call("asker_curious", `{}`)
			if l.modern {
				r := c.reply(id)
				differ(t, "question", at(r.result, "inputRequests", "request-1", "params"), want)
				id = c.callWith("asker_curious", `{}`, "", `,"inputResponses":{"request-1":`+nameGiven+`},"requestState":`+at(r.result, "requestState"))
			} else {
				q := c.questioned("elicitation/create")
				differ(t, "question", string(q.params), want)
				c.respond(q.id, nameGiven)
			}
			if r := c.reply(id); r.result == nil || r.isError() {
				t.Errorf("%s", r.raw)
			}
		})
	}
}
