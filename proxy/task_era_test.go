package proxy_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestTaskOfOlderUpstream: a client of 2026-07-28, in front of an upstream of 2025-11-25, gets a
// task for a tool that is always a task, in the form of its own revision.
func TestTaskOfOlderUpstream(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		for _, end := range []struct{ args, place, outcome, status string }{
			{`{}`, "done", "success", "completed"},
			{`{"fail":true}`, "ready", "failure", "completed"}, // an error of a tool completes the task there
			{`{"error":1}`, "ready", "failure", "failed"},
		} {
			s := tasked(t, setup{policy: chain(t, "flaky"), server: testserver.Options{Eras: testserver.Legacy, Tasks: &testserver.Tasks{TTL: 5000}}})
			c := s.connect(l, takesTasks)
			r := c.reply(c.call("flaky", end.args))
			if at(r.result, "resultType") != `"task"` || at(r.result, "ttlMs") != "5000" || at(r.result, "ttl") != "" || at(r.result, "vendor") != "12345678901234567890" {
				t.Errorf("%s", r.raw)
			}
			id, _ := strconv.Unquote(at(r.result, "taskId"))
			r = c.outcome(id)
			if at(r.raw, "result", "status") != strconv.Quote(end.status) || at(r.raw, "result", "resultType") != `"complete"` {
				t.Errorf("%s", r.raw)
			}
			s.settled(end.place)
			s.oneEnd("flaky", end.outcome)
		}
	})
}

// TestTaskTakenByNone: a tool that can be called only as a task is refused before anything is
// spent, with the reason, if the client does not support tasks.
func TestTaskTakenByNone(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{server: testserver.Options{Eras: testserver.Legacy}})
		c := s.connect(l, "")
		before := s.state()
		r := c.reply(c.call("push", `{}`))
		if r.code() != "-32021" || at(r.err, "data", "requiredCapabilities") != `{"extensions":{"io.modelcontextprotocol/tasks":{}}}` {
			t.Errorf("%s", r.raw)
		}
		if r := c.reply(c.task("get", "x")); r.code() != "-32021" {
			t.Errorf("%s", r.raw)
		}
		if s.state() != before && s.openCalls() != 0 {
			t.Error("the state moved")
		}
		s.executed("push", 0)
	})
}

// TestTaskOfNewerUpstream: clients of 2025-11-25 are not offered tasks of an upstream of
// 2026-07-28, and are told so.
func TestTaskOfNewerUpstream(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{server: testserver.Options{Eras: testserver.Modern}})
		c := s.connect(l, "")
		if r := c.tasks(); r.code() != "-32601" {
			t.Errorf("%s", r.raw)
		}
		if r := c.reply(c.callAsTask("push", `{}`, "")); r.code() != "-32601" {
			t.Errorf("%s", r.raw)
		}
		s.executed("push", 0)
	})
}

// TestTaskUpdate: a client of 2026-07-28 finds the upstream's input requests in its task, and
// answers there, whatever the family of the upstream.
func TestTaskUpdate(t *testing.T) {
	for _, era := range []testserver.Eras{testserver.Both, testserver.Legacy} {
		modernLegs(t, func(t *testing.T, l leg) {
			s := tasked(t, setup{policy: chain(t, "ask"), server: testserver.Options{Eras: era}})
			c := s.connect(l, takesTasks)
			id := c.begin("ask", `{}`)
			var r message
			s.eventually("it asks", func() bool {
				r = c.reply(c.task("get", id))
				return at(r.result, "status") == `"input_required"`
			})
			s.inFlight()
			var asked map[string]struct {
				Method string
				Params json.RawMessage
			}
			if err := json.Unmarshal([]byte(at(r.result, "inputRequests")), &asked); err != nil || len(asked) != 1 {
				t.Fatalf("%s", r.raw)
			}
			for key, q := range asked {
				if q.Method != "elicitation/create" || at(q.Params, "message") != `"Who?"` {
					t.Errorf("%s", r.raw)
				}
				r = c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/update","params":{%META%"taskId":"` + id +
					`","inputResponses":{"` + key + `":{"action":"accept","content":{"name":"Luca"}},"other":{"action":"accept"}}}}`))
				if at(r.result, "resultType") != `"complete"` {
					t.Errorf("%s", r.raw)
				}
			}
			s.eventually("it is over", func() bool {
				r = c.reply(c.task("get", id))
				return at(r.result, "status") == `"completed"`
			})
			answer := at(r.result, "result", "structuredContent", "answer")
			if inner := at([]byte(answer), "result"); inner != "" { // as a whole response, in the older family
				answer = inner
			}
			if at([]byte(answer), "content", "name") != `"Luca"` {
				t.Errorf("%s", r.raw)
			}
			s.settled("done")
		})
	}
}

// TestTaskHeader: the header that names the task must match the message.
func TestTaskHeader(t *testing.T) {
	s := tasked(t, setup{})
	c := s.connect(legs()[2], takesTasks)
	id := c.begin("safe", `{}`)
	raw, request := c.fill(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/get","params":{%META%"taskId":"` + id + `"}}`)
	c.send(raw, http.Header{"Mcp-Name": {"another"}})
	if r := c.reply(request); r.code() != "-32020" {
		t.Errorf("%s", r.raw)
	}
}

// TestTaskSubscription: a client of 2026-07-28 is notified of the current state of its own tasks if
// it subscribes, and of no others.
func TestTaskSubscription(t *testing.T) {
	t.Parallel()
	for _, era := range []testserver.Eras{testserver.Both, testserver.Legacy} {
		modernLegs(t, func(t *testing.T, l leg) {
			s := tasked(t, setup{server: testserver.Options{Eras: era, Tasks: &testserver.Tasks{Poll: 1}}})
			c := s.connect(l, takesTasks)
			id := c.begin("slow", `{}`)
			listen := `{"jsonrpc":"2.0","id":%ID%,"method":"subscriptions/listen","params":{%META%"notifications":{"taskIds":["` + id + `","task-1","x"]}}}`
			c.sendf(listen)
			ack := c.await("the acknowledgement", func(m message) bool { return m.method == "notifications/subscriptions/acknowledged" })
			if got := at(ack.params, "notifications"); got != `{"taskIds":["`+id+`"]}` {
				t.Errorf("agreed on %s", got)
			}
			s.upstream.Release()
			note := c.await("the end", func(m message) bool { return m.method == "notifications/tasks" })
			if at(note.params, "taskId") != strconv.Quote(id) || at(note.params, "status") != `"completed"` || at(note.params, "result", "content") == "" || at(note.params, "resultType") != "" {
				t.Errorf("%s", note.raw)
			}
			plain := s.connect(l, "")
			if r := plain.reply(plain.sendf(listen)); r.code() != "-32021" {
				t.Errorf("%s", r.raw)
			}
		})
	}
}
