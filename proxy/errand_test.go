package proxy_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/fixture"
	"github.com/petrigate/petrigate/proxy"
)

// makesErrands is what a client declares that makes tasks of what it is asked.
const makesErrands = `{"elicitation":{},"sampling":{},"tasks":{"list":{},"cancel":{"x":1.0},"requests":{"elicitation":{"create":{}},"sampling":{"createMessage":{}}}}}`

const (
	asksTask = `{"message":"Who? \u003c","requestedSchema":{"type":"object","properties":{"n":{"type":"string","x":1.0}}},"task":{"ttl":60000,"x":1E400}}`
	asksPlan = `{"messages":[{"role":"user","content":{"type":"text","text":"1 < 2"}}],"maxTokens":1e2,"task":{}}`
)

// errandsLegs are the ways to the clients of the older era, each in front of an
// upstream over HTTP and of one over stdio.
func errandLegs(t *testing.T, isolation string, f func(t *testing.T, s *site, l leg, received func() []fixture.Record)) {
	for _, kind := range []string{"listens", "child"} {
		legacyLegs(t, func(t *testing.T, l leg) {
			t.Run(kind, func(t *testing.T) {
				up, received := child(t, "--tools asking --era legacy")
				s := start(t, setup{policy: netPolicy(t), server: fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}, change: func(o *proxy.Options) {
					if kind == "child" {
						o.Upstreams[0] = up
					}
					o.Upstreams[0].Isolation = isolation
				}})
				if kind == "listens" {
					received = func() []fixture.Record { return s.log.Records() }
				}
				f(t, s, l, received)
			})
		})
	}
}

// put has the upstream ask the client, and returns the id of the call.
func (c *client) put(method, params string) (id string) {
	return c.call("put", `{"method":"`+method+`","params":`+params+`}`)
}

// heard is what the upstream was answered to what it asked in a call.
func (c *client) heard(id string) message {
	c.t.Helper()
	r := c.reply(id)
	heard := at(r.result, "heard")
	if heard == "" {
		c.t.Fatalf("%s", r.raw)
	}
	m := message{raw: []byte(heard)}
	if result := at(m.raw, "result"); result != "" {
		m.result = json.RawMessage(result)
	}
	if failure := at(m.raw, "error"); failure != "" {
		m.err = json.RawMessage(failure)
	}
	return m
}

// shown is a task as a client shows it.
func shown(id, status string) string {
	return `{"taskId":"` + id + `","status":"` + status + `","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000,"pollInterval":1, "v":1E400}`
}

// begins has the upstream ask something as a task, of which the client makes one
// that it calls name, and returns what the upstream calls it.
func (c *client) begins(name string) (id string) {
	c.t.Helper()
	call := c.put("elicitation/create", asksTask)
	c.respond(c.questioned("elicitation/create").id, `{"task":`+shown(name, "working")+`}`)
	r := c.heard(call)
	id, err := strconv.Unquote(at(r.result, "task", "taskId"))
	if err != nil || id == "" {
		c.t.Fatalf("%s", r.raw)
	}
	return id
}

// unasked fails if the client was sent a request of that method.
func (c *client) unasked(method string) {
	c.t.Helper()
	if n := c.mail.count(func(m message) bool { return m.method == method }); n != 0 {
		c.t.Errorf("%d times %s: %s", n, method, c.mail)
	}
}

// refusesErrand fails unless the upstream is refused all that it wants of id,
// and the client hears nothing of it.
func (c *client) refusesErrand(id, code string) {
	c.t.Helper()
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		if r := c.heard(c.put(method, `{"taskId":"`+id+`"}`)); r.code() != code {
			c.t.Errorf("%s of %q: %s", method, id, r.raw)
		}
		c.unasked(method)
	}
}

// TestErrand: what an upstream asks as a task reaches a client that makes tasks
// as it was written, and so does what it wants to know of the task, and what the
// client says of it. But for the ids, nothing is changed on the way.
func TestErrand(t *testing.T) {
	for method, params := range map[string]string{"elicitation/create": asksTask, "sampling/createMessage": asksPlan} {
		errandLegs(t, proxy.IsolateShared, func(t *testing.T, s *site, l leg, received func() []fixture.Record) {
			c := s.connect(l, makesErrands)
			call := c.put(method, params)
			q := c.questioned(method)
			differ(t, "question", string(q.params), params)
			c.respond(q.id, `{"task":`+shown("mine", "working")+`, "_meta":{"v":1.0}}`)
			made := c.heard(call)
			id, _ := strconv.Unquote(at(made.result, "task", "taskId"))
			if len(id) != 32 {
				t.Fatalf("%s", made.raw)
			}
			differ(t, "handle", string(made.result), `{"task":`+shown(id, "working")+`, "_meta":{"v":1.0}}`)

			call = c.put("tasks/get", `{"taskId":"`+id+`","_meta":{"v":2.0}}`)
			q = c.questioned("tasks/get")
			differ(t, "tasks/get", string(q.params), `{"taskId":"mine","_meta":{"v":2.0}}`)
			c.respond(q.id, shown("mine", "input_required"))
			differ(t, "task", string(c.heard(call).result), shown(id, "input_required"))

			c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":`+shown("mine", "completed")+`}`), nil)
			s.eventually("its upstream is told", func() bool { return told(received(), shown(id, "completed")) })

			call = c.put("tasks/list", `{}`)
			q = c.questioned("tasks/get")
			c.respond(q.id, shown("mine", "completed"))
			differ(t, "list", string(c.heard(call).result), `{"tasks":[`+shown(id, "completed")+`]}`)

			const related = `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"%ID%"},"v":3.0}}`
			result := nameGiven[:len(nameGiven)-1] + related
			call = c.put("tasks/result", `{"taskId":"`+id+`"}`)
			q = c.questioned("tasks/result")
			differ(t, "tasks/result", string(q.params), `{"taskId":"mine"}`)
			c.respond(q.id, strings.ReplaceAll(result, "%ID%", "mine"))
			differ(t, "result", string(c.heard(call).result), strings.ReplaceAll(result, "%ID%", id))

			call = c.put("tasks/cancel", `{"taskId":"`+id+`"}`)
			q = c.questioned("tasks/cancel")
			c.send([]byte(`{"jsonrpc":"2.0","id":`+q.id+`,"error":{"code":-32602,"message":"it is over","data":1.0}}`), nil)
			differ(t, "error", string(c.heard(call).err), `{"code":-32602,"message":"it is over","data":1.0}`)
		})
	}
}

// told reports whether params came with a notification on a task.
func told(received []fixture.Record, params string) bool {
	for _, r := range received {
		if r.Kind == fixture.Received && strings.Contains(string(r.Bytes), `"method":"notifications/tasks/status","params":`+params+`}`) {
			return true
		}
	}
	return false
}

// TestErrandDeclared: servers are told that clients make tasks as far as they do.
func TestErrandDeclared(t *testing.T) {
	const both = `"elicitation":{},"sampling":{}`
	for _, c := range []struct{ version, declared, want string }{
		{"2025-11-25", makesErrands, `{"list":{},"cancel":{"x":1.0},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}`},
		{"2025-11-25", `{` + both + `,"tasks":{"requests":{"sampling":{"createMessage":{"v":1}}}}}`, `{"requests":{"sampling":{"createMessage":{"v":1}}}}`},
		{"2025-11-25", `{"sampling":{},"tasks":{"list":{},"requests":{"elicitation":{"create":{}}}}}`, ""}, // nobody can be asked
		{"2025-11-25", `{` + both + `,"tasks":{"list":{},"requests":{"roots":{"list":{}}}}}`, ""},
		{"2025-11-25", `{` + both + `,"tasks":{"list":{}}}`, ""},
		{"2025-06-18", makesErrands, ""}, // there were no tasks yet
	} {
		legacyLegs(t, func(t *testing.T, l leg) {
			s := start(t, setup{server: fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}})
			client := s.unconnected(l)
			client.capabilities, client.version = c.declared, c.version
			client.initialize()
			var last string
			for _, r := range s.log.Records(fixture.Received) {
				if m := parseMessage(r.Bytes, 0); m.method == "initialize" {
					last = at(m.params, "capabilities", "tasks")
				}
			}
			differ(t, "tasks", last, c.want)
		})
	}
}

// TestErrandOfOthers: no server reads or ends what another one has had a client
// do, nor what a client does for it in another session. The client's own name of
// it is good for nobody.
func TestErrandOfOthers(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		none := ""
		s := start(t, setup{policy: netPolicy(t), server: fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}, change: func(o *proxy.Options) {
			o.Upstreams[0].Isolation, o.Upstreams[0].Prefix = proxy.IsolateSession, &none
			o.Upstreams = append(o.Upstreams, serving(t, "spy", fixture.Options{Eras: fixture.Legacy, Tools: fixture.Asking()}))
		}})
		c, other := s.connect(l, makesErrands), s.connect(l, makesErrands)
		c.listenToPushes()
		other.listenToPushes()
		id := c.begins("mine")
		for _, guess := range []string{id, "mine", "", "*"} {
			for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
				params := `{"taskId":"` + guess + `"}`
				if r := c.heard(c.call("spy_put", `{"method":"`+method+`","params":`+params+`}`)); r.code() != "-32602" {
					t.Errorf("%s of %q by another server: %s", method, guess, r.raw)
				}
			}
			other.refusesErrand(guess, "-32602")
		}
		if r := c.heard(c.call("spy_put", `{"method":"tasks/list","params":{}}`)); at(r.result, "tasks") != "[]" {
			t.Errorf("%s", r.raw)
		}
		if r := other.heard(other.put("tasks/list", `{}`)); at(r.result, "tasks") != "[]" {
			t.Errorf("%s", r.raw)
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
			c.unasked(method)
			other.unasked(method)
		}
		call := c.put("tasks/get", `{"taskId":"`+id+`"}`) // it is still good where it belongs
		c.respond(c.questioned("tasks/get").id, shown("mine", "working"))
		differ(t, "task", string(c.heard(call).result), shown(id, "working"))
	})
}

// TestErrandsOfOneName: clients of one upstream may call their tasks the same.
func TestErrandsOfOneName(t *testing.T) {
	errandLegs(t, proxy.IsolateShared, func(t *testing.T, s *site, l leg, received func() []fixture.Record) {
		a, b := s.connect(l, makesErrands), s.connect(l, makesErrands)
		a.listenToPushes()
		b.listenToPushes()
		ida, idb := a.begins("same"), b.begins("same")
		if ida == idb {
			t.Fatal("two tasks have one id")
		}
		call := b.put("tasks/get", `{"taskId":"`+ida+`"}`) // the upstream is the one that both have
		a.respond(a.questioned("tasks/get").id, shown("same", "working"))
		differ(t, "task", string(b.heard(call).result), shown(ida, "working"))
		b.unasked("tasks/get")
		b.send([]byte(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":`+shown("same", "failed")+`}`), nil)
		s.eventually("its upstream is told", func() bool { return told(received(), shown(idb, "failed")) })
		if told(received(), shown(ida, "failed")) {
			t.Error("one client spoke for the other")
		}
		call = b.put("tasks/list", `{}`)
		a.respond(a.questioned("tasks/get").id, shown("same", "working"))
		b.respond(b.questioned("tasks/get").id, shown("same", "failed"))
		differ(t, "list", string(b.heard(call).result), `{"tasks":[`+shown(ida, "working")+`,`+shown(idb, "failed")+`]}`)
		a.close()
		b.refusesErrand(ida, "-32602")
	})
}

// TestErrandInTask: what an upstream asks as a task in the course of a task names
// that one in the words of each side, and so do the answers.
func TestErrandInTask(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		plan := fixture.Tool{Name: "plan", Run: func(ctx context.Context, c *fixture.Call) (json.RawMessage, error) {
			answer, err := c.Input(ctx, "elicitation/create", asksTask)
			if err != nil {
				return nil, err
			}
			return json.RawMessage(`{"content":[],"heard":` + string(answer) + `}`), nil
		}}
		s := tasked(t, setup{policy: netPolicy(t), server: fixture.Options{Tools: []fixture.Tool{plan}}})
		c := s.connect(l, makesErrands)
		id := c.begin("plan", `{}`)
		s.eventually("it asks", func() bool { return c.standing(id) == "input_required" })
		result := c.task("result", id)
		q := c.questioned("elicitation/create")
		related := func(task string) string {
			return `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + task + `"}}}`
		}
		differ(t, "question", string(q.params), asksTask[:len(asksTask)-1]+related(id))
		c.respond(q.id, `{"task":`+shown("mine", "working")+related(id))
		heard := at(c.reply(result).result, "heard", "result")
		errand, _ := strconv.Unquote(at([]byte(heard), "task", "taskId"))
		if len(errand) != 32 || errand == id {
			t.Errorf("%s", heard)
		}
		differ(t, "handle", heard, `{"task":`+shown(errand, "working")+related("task-1"))
	})
}
