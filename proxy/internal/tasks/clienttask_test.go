package tasks_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestClientTasksAreNotOffered checks that a server is not told that a client can create tasks for
// elicitation and sampling (capability tasks.requests of 2025-11-25). If the server requests a task
// nevertheless, it gets the answer itself, as from a receiver without the capability, and the
// tasks/* methods of the client do not exist.
func TestClientTasksAreNotOffered(t *testing.T) {
	const declared = `{"elicitation":{},"sampling":{},"tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}},"sampling":{"createMessage":{}}}}}`
	asks := map[string]string{
		"elicitation/create":     proxytest.AsksName,
		"sampling/createMessage": `{"messages":[{"role":"user","content":{"type":"text","text":"1 < 2"}}],"maxTokens":1e2}`,
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: testserver.Options{Revisions: testserver.Legacy, Tools: testserver.Asking()}, Change: func(o *proxy.Options) {
			o.Upstreams[0].Isolation = proxy.IsolateShared
		}})
		c := s.Connect(l, declared)
		for method, params := range asks {
			put := `{"method":"` + method + `","params":` + strings.TrimSuffix(params, "}") + `,"task":{"ttl":60000}}}`
			id := c.Call("put", put)
			if l.Modern {
				r := c.Reply(id)
				proxytest.CompareText(t, "question", proxytest.Member(r.Result, "inputRequests", "request-1", "params"), params)
				id = c.CallWith("put", put, "", `,"inputResponses":{"request-1":`+proxytest.NameGiven+`},"requestState":`+proxytest.Member(r.Result, "requestState"))
			} else {
				q := c.AwaitRequest(method)
				proxytest.CompareText(t, "question", string(q.Params), params)
				c.Respond(q.ID, proxytest.NameGiven)
			}
			proxytest.CompareText(t, "answer", proxytest.Member([]byte(proxytest.Member(c.Reply(id).Result, "heard")), "result"), proxytest.NameGiven)
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/list"} {
			r := c.Do("put", `{"method":"`+method+`","params":{"taskId":"x"}}`)
			if code := proxytest.Member([]byte(proxytest.Member(r.Result, "heard")), "error", "code"); code != "-32601" {
				t.Errorf("%s: %s", method, r.Raw)
			}
		}
		for _, r := range s.Log.Records(testserver.Received) {
			if m := proxytest.ParseMessage(r.Bytes, 0); m.Method == "initialize" && proxytest.Member(m.Params, "capabilities", "tasks") != "" {
				t.Errorf("the server is told of tasks: %s", r.Bytes)
			}
		}
	})
}
