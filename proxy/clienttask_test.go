package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestClientTasksAreNotOffered: a server is not told that a client creates tasks for elicitation
// and sampling (capability tasks.requests of 2025-11-25). If it requests a task nevertheless, it
// gets the answer itself, like from a receiver without the capability, and the tasks/* methods of
// the client do not exist.
func TestClientTasksAreNotOffered(t *testing.T) {
	const declared = `{"elicitation":{},"sampling":{},"tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}},"sampling":{"createMessage":{}}}}}`
	asks := map[string]string{
		"elicitation/create":     asksName,
		"sampling/createMessage": `{"messages":[{"role":"user","content":{"type":"text","text":"1 < 2"}}],"maxTokens":1e2}`,
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: netPolicy(t), server: testserver.Options{Eras: testserver.Legacy, Tools: testserver.Asking()}, change: func(o *proxy.Options) {
			o.Upstreams[0].Isolation = proxy.IsolateShared
		}})
		c := s.connect(l, declared)
		for method, params := range asks {
			put := `{"method":"` + method + `","params":` + strings.TrimSuffix(params, "}") + `,"task":{"ttl":60000}}}`
			id := c.call("put", put)
			if l.modern {
				r := c.reply(id)
				differ(t, "question", at(r.result, "inputRequests", "request-1", "params"), params)
				id = c.callWith("put", put, "", `,"inputResponses":{"request-1":`+nameGiven+`},"requestState":`+at(r.result, "requestState"))
			} else {
				q := c.questioned(method)
				differ(t, "question", string(q.params), params)
				c.respond(q.id, nameGiven)
			}
			differ(t, "answer", at([]byte(at(c.reply(id).result, "heard")), "result"), nameGiven)
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/list"} {
			r := c.do("put", `{"method":"`+method+`","params":{"taskId":"x"}}`)
			if code := at([]byte(at(r.result, "heard")), "error", "code"); code != "-32601" {
				t.Errorf("%s: %s", method, r.raw)
			}
		}
		for _, r := range s.log.Records(testserver.Received) {
			if m := parseMessage(r.Bytes, 0); m.method == "initialize" && at(m.params, "capabilities", "tasks") != "" {
				t.Errorf("the server is told of tasks: %s", r.Bytes)
			}
		}
	})
}
