package tasks_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestTaskOfOlderUpstream checks that a client of 2026-07-28 gets a task, in the form of its own
// revision, for a tool that always runs as a task at an upstream of 2025-11-25.
func TestTaskOfOlderUpstream(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		for _, end := range []struct{ args, place, outcome, status string }{
			{`{}`, "done", "success", "completed"},
			{`{"fail":true}`, "ready", "failure", "completed"}, // an error of a tool completes the task there
			{`{"error":1}`, "ready", "failure", "failed"},
		} {
			s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "flaky"), Server: testserver.Options{Revisions: testserver.Legacy, Tasks: &testserver.Tasks{TTL: 5000}}})
			c := s.Connect(l, proxytest.CanTasks)
			r := c.Reply(c.Call("flaky", end.args))
			if proxytest.Member(r.Result, "resultType") != `"task"` || proxytest.Member(r.Result, "ttlMs") != "5000" || proxytest.Member(r.Result, "ttl") != "" || proxytest.Member(r.Result, "vendor") != "12345678901234567890" {
				t.Errorf("%s", r.Raw)
			}
			id, _ := strconv.Unquote(proxytest.Member(r.Result, "taskId"))
			r = c.TaskOutcome(id)
			if proxytest.Member(r.Raw, "result", "status") != strconv.Quote(end.status) || proxytest.Member(r.Raw, "result", "resultType") != `"complete"` {
				t.Errorf("%s", r.Raw)
			}
			s.ChainSettled(end.place)
			oneEnd(s, "flaky", end.outcome)
		}
	})
}

// TestTaskTakenByNone checks that a tool that can be called only as a task is refused with a reason
// if the client does not support tasks, before the call uses up anything.
func TestTaskTakenByNone(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Legacy}})
		c := s.Connect(l, "")
		before := s.State()
		r := c.Reply(c.Call("push", `{}`))
		if r.Code() != "-32021" || proxytest.Member(r.Error, "data", "requiredCapabilities") != `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Reply(c.RequestTask("get", "x")); r.Code() != "-32021" {
			t.Errorf("%s", r.Raw)
		}
		if s.State() != before && s.OpenCalls() != 0 {
			t.Error("the state moved")
		}
		s.Executed("push", 0)
	})
}

// TestTaskOfNewerUpstream checks that clients of 2025-11-25 are not offered tasks of an upstream of
// 2026-07-28, and that they are told so.
func TestTaskOfNewerUpstream(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{Server: testserver.Options{Revisions: testserver.Modern}})
		c := s.Connect(l, "")
		if r := tasks(c); r.Code() != "-32601" {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Reply(c.CallAsTask("push", `{}`, "")); r.Code() != "-32601" {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("push", 0)
	})
}

// TestTaskUpdate checks that a client of 2026-07-28 finds the upstream's input requests in its task
// and answers them there, whichever revision family the upstream uses.
func TestTaskUpdate(t *testing.T) {
	for _, era := range []testserver.Revisions{testserver.Both, testserver.Legacy} {
		proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "ask"), Server: testserver.Options{Revisions: era}})
			c := s.Connect(l, proxytest.CanTasks)
			id := c.BeginTask("ask", `{}`)
			var r proxytest.Message
			s.Eventually("it asks", func() bool {
				r = c.Reply(c.RequestTask("get", id))
				return proxytest.Member(r.Result, "status") == `"input_required"`
			})
			s.ChainInFlight()
			var asked map[string]struct {
				Method string
				Params json.RawMessage
			}
			if err := json.Unmarshal([]byte(proxytest.Member(r.Result, "inputRequests")), &asked); err != nil || len(asked) != 1 {
				t.Fatalf("%s", r.Raw)
			}
			for key, q := range asked {
				if q.Method != "elicitation/create" || proxytest.Member(q.Params, "message") != `"Who?"` {
					t.Errorf("%s", r.Raw)
				}
				r = c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/update","params":{%META%"taskId":"` + id +
					`","inputResponses":{"` + key + `":{"action":"accept","content":{"name":"Luca"}},"other":{"action":"accept"}}}}`))
				if proxytest.Member(r.Result, "resultType") != `"complete"` {
					t.Errorf("%s", r.Raw)
				}
			}
			s.Eventually("it is over", func() bool {
				r = c.Reply(c.RequestTask("get", id))
				return proxytest.Member(r.Result, "status") == `"completed"`
			})
			answer := proxytest.Member(r.Result, "result", "structuredContent", "answer")
			if inner := proxytest.Member([]byte(answer), "result"); inner != "" { // in the older family, a complete response
				answer = inner
			}
			if proxytest.Member([]byte(answer), "content", "name") != `"Luca"` {
				t.Errorf("%s", r.Raw)
			}
			s.ChainSettled("done")
		})
	}
}

// TestTaskHeader checks that the header with the task's ID must match the message.
func TestTaskHeader(t *testing.T) {
	s := proxytest.StartWithTasks(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[2], proxytest.CanTasks)
	id := c.BeginTask("safe", `{}`)
	raw, request := c.Fill(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/get","params":{%META%"taskId":"` + id + `"}}`)
	c.Send(raw, http.Header{"Mcp-Name": {"another"}})
	if r := c.Reply(request); r.Code() != "-32020" {
		t.Errorf("%s", r.Raw)
	}
}

// TestTaskSubscription checks that a client of 2026-07-28 that subscribes is notified of the
// current state of its own tasks, and of no others.
func TestTaskSubscription(t *testing.T) {
	t.Parallel()
	for _, era := range []testserver.Revisions{testserver.Both, testserver.Legacy} {
		proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.StartWithTasks(t, proxytest.Setup{Server: testserver.Options{Revisions: era, Tasks: &testserver.Tasks{Poll: 1}}})
			c := s.Connect(l, proxytest.CanTasks)
			id := c.BeginTask("slow", `{}`)
			listen := `{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"taskIds":["` + id + `","task-1","x"]}}}`
			c.Sendf(listen)
			ack := c.Await("the acknowledgement", func(m proxytest.Message) bool { return m.Method == "notifications/subscriptions/acknowledged" })
			if got := proxytest.Member(ack.Params, "notifications"); got != `{"taskIds":["`+id+`"]}` {
				t.Errorf("agreed on %s", got)
			}
			s.Upstream.Release()
			note := c.Await("the end", func(m proxytest.Message) bool { return m.Method == "notifications/tasks" })
			if proxytest.Member(note.Params, "taskId") != strconv.Quote(id) || proxytest.Member(note.Params, "status") != `"completed"` || proxytest.Member(note.Params, "result", "content") == "" || proxytest.Member(note.Params, "resultType") != "" {
				t.Errorf("%s", note.Raw)
			}
			plain := s.Connect(l, "")
			if r := plain.Reply(plain.Sendf(listen)); r.Code() != "-32021" {
				t.Errorf("%s", r.Raw)
			}
		})
	}
}
