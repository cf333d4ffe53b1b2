package proxy_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// takesTasks is the capabilities of a client of 2026-07-28 that supports tasks.
const takesTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// tasked is a site whose upstream creates tasks for calls, with the attack tools if s names none.
func tasked(t *testing.T, s setup) *site {
	t.Helper()
	if s.server.Tools == nil {
		s.server.Tools = testserver.Attack()
	}
	support := "optional"
	if s.server.Eras != testserver.Both { // there the clients of the other family have no choice
		support = "required"
	}
	s.server.Tools = testserver.Tasked(s.server.Tools, support)
	if s.server.Tasks == nil {
		s.server.Tasks = &testserver.Tasks{}
	}
	st := start(t, s)
	t.Cleanup(func() {
		st.upstream.Release()
		st.upstream.StopTasks()
	})
	return st
}

// taskLegs are all legs, with a client that supports tasks on each.
func taskLegs(t *testing.T, s func(t *testing.T) setup, f func(t *testing.T, s *site, c *client)) {
	eachLeg(t, func(t *testing.T, l leg) {
		st := tasked(t, s(t))
		f(t, st, st.connect(l, takesTasks))
	})
}

// begin calls a tool as a task and returns its id.
func (c *client) begin(tool, args string) (id string) {
	c.t.Helper()
	r := c.reply(c.callAsTask(tool, args, ""))
	path := []string{"task", "taskId"}
	if c.leg.modern {
		path = path[1:]
	}
	id, err := strconv.Unquote(at(r.result, path...))
	if err != nil || id == "" || strings.Contains(id, "task-") {
		c.t.Fatalf("%s as a task: %s", tool, r.raw)
	}
	return id
}

// callAsTask sends a call that becomes a task.
func (c *client) callAsTask(tool, args, meta string) (id string) {
	if c.leg.modern {
		return c.callWith(tool, args, meta, "")
	}
	return c.callWith(tool, args, meta, `,"task":{}`) // with a ttl, servers of mcp-go would keep sleeping
}

// task sends a request about a task and returns its id.
func (c *client) task(method, task string) (id string) {
	return c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/` + method + `","params":{%META%"taskId":"` + task + `"}}`)
}

// standing returns the status of the task as its client sees it.
func (c *client) standing(task string) string {
	c.t.Helper()
	r := c.reply(c.task("get", task))
	if at(r.result, "taskId") != strconv.Quote(task) {
		c.t.Fatalf("tasks/get: %s", r.raw)
	}
	s, _ := strconv.Unquote(at(r.result, "status"))
	return s
}

// outcome returns the end of a task, in the form of the revision: its result and error.
func (c *client) outcome(task string) message {
	c.t.Helper()
	if !c.leg.modern {
		return c.reply(c.task("result", task))
	}
	var r message
	c.eventually("the task is over", func() bool {
		r = c.reply(c.task("get", task))
		return at(r.result, "status") != `"working"`
	})
	return message{raw: r.raw, result: json.RawMessage(at(r.result, "result")), err: json.RawMessage(at(r.result, "error"))}
}

// TestTaskSettles: a call that becomes a task is decided once and in flight until its end is known;
// the outcome decides about the tokens.
func TestTaskSettles(t *testing.T) {
	for _, end := range []struct {
		name, tool, args, place, outcome string
	}{
		{"success", "flaky", `{}`, "done", "success"},
		{"failed result", "flaky", `{"fail":true}`, "ready", "failure"},
		{"error", "flaky", `{"error":1}`, "ready", "failure"},
	} {
		t.Run(end.name, func(t *testing.T) {
			taskLegs(t, func(t *testing.T) setup { return setup{policy: chain(t, "flaky", "push")} }, func(t *testing.T, s *site, c *client) {
				id := c.begin(end.tool, end.args)
				first, second := c.outcome(id), c.outcome(id)
				if string(first.result) != string(second.result) || string(first.err) != string(second.err) || first.result == nil && first.err == nil {
					t.Errorf("the second answer is another one:\n%s\n%s", first.raw, second.raw)
				}
				s.settled(end.place)
				s.oneEnd("flaky", end.outcome)
				s.executed("flaky", 1)
			})
		})
	}
}

// oneEnd fails unless there was one call of a tool, which became a task and ended once.
func (s *site) oneEnd(tool, outcome string) {
	s.t.Helper()
	of := func(event string) []record {
		return s.records.matching(func(r record) bool { return r.Event == event && r.Tool == "up."+tool })
	}
	// An operator may see an end a moment before it is recorded, while no call can pass on it yet.
	s.eventually("the end is on record", func() bool { return len(of("outcome")) > 0 })
	ends, made := of("outcome"), of("task")
	if len(ends) != 1 || ends[0].Outcome != outcome || len(made) != 1 || made[0].Call != ends[0].Call {
		s.t.Errorf("on record are the tasks %+v and the ends %+v, want one %s", made, ends, outcome)
	}
}

// TestTaskInFlight: a running task holds its token, and does not count as a success yet. Its client
// never has to poll.
func TestTaskInFlight(t *testing.T) {
	for _, tell := range []bool{false, true} {
		taskLegs(t, func(t *testing.T) setup {
			return setup{policy: chain(t, "slow", "push"), server: testserver.Options{Tasks: &testserver.Tasks{Poll: 1, Tell: tell}}}
		}, func(t *testing.T, s *site, c *client) {
			id := c.begin("slow", `{}`)
			s.inFlight()
			c.refuses("push", `{}`, "blocked")
			if got := c.standing(id); got != "working" {
				t.Errorf("status %q", got)
			}
			s.inFlight()
			s.upstream.Release()
			s.settled("done")
			s.oneEnd("slow", "success")
		})
	}
}

// TestTaskRequire: a call that requires a success is possible as soon as the client knows of it, in
// whatever way.
func TestTaskRequire(t *testing.T) {
	taskLegs(t, func(*testing.T) setup { return setup{} }, func(t *testing.T, s *site, c *client) {
		c.outcome(c.begin("backup", `{"fail":true}`))
		c.refuses("delete", `{}`, "blocked")
		id := c.begin("backup", `{}`)
		s.eventually("it is completed", func() bool { return c.standing(id) == "completed" })
		c.must("delete", `{}`)
		for range 3 {
			c.begin("push", `{}`)
		}
		r := c.reply(c.callAsTask("push", `{}`, ""))
		if !strings.Contains(string(r.raw), "push has reached its limit of 3 calls per session.") {
			t.Errorf("%s", r.raw)
		}
		if !c.leg.modern && (r.code() != "-32600" || at(r.err, "data", "io.petrigate/decision", "kind") != `"blocked"`) {
			t.Errorf("%s", r.raw)
		}
		s.executed("push", 3)
	})
}

// TestTaskCancelled: a cancelled task might have run.
func TestTaskCancelled(t *testing.T) {
	taskLegs(t, func(t *testing.T) setup { return setup{policy: chain(t, "slow", "push")} }, func(t *testing.T, s *site, c *client) {
		id := c.begin("slow", `{"stubborn":true}`)
		if r := c.reply(c.task("cancel", id)); r.result == nil {
			t.Errorf("%s", r.raw)
		}
		if got := c.standing(id); got != "cancelled" {
			t.Errorf("status %q", got)
		}
		s.inFlight()
		s.oneEnd("slow", "unknown")
		c.refuses("push", `{}`, "blocked")
		if r := c.reply(c.task("cancel", id)); r.code() != "-32602" {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestUnknownTaskEndsUnknown: a task that its upstream does not know any more ends as unknown.
func TestUnknownTaskEndsUnknown(t *testing.T) {
	taskLegs(t, func(t *testing.T) setup {
		return setup{policy: chain(t, "slow", "push"), server: testserver.Options{Tasks: &testserver.Tasks{Poll: 1}}}
	}, func(t *testing.T, s *site, c *client) {
		id := c.begin("slow", `{}`)
		s.upstream.ForgetTasks()
		s.eventually("it is lost", func() bool { return len(s.records.outcomes()) == 1 })
		s.oneEnd("slow", "unknown")
		s.inFlight()
		if r := c.reply(c.task("get", id)); r.code() != "-32602" {
			t.Errorf("%s", r.raw)
		}
		s.oneEnd("slow", "unknown")
	})
}

// TestTaskOfOthers: a task belongs to its own session, and does not exist for others.
func TestTaskOfOthers(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{})
		a, b := s.connect(l, takesTasks), s.connect(l, takesTasks)
		id := a.begin("slow", `{}`)
		before := s.log.Executed("")
		for _, task := range []string{id, "task-1", "", "x"} {
			for _, method := range []string{"get", "result", "cancel"} {
				if r := b.reply(b.task(method, task)); r.code() != "-32602" {
					t.Errorf("%s of %q: %s", method, task, r.raw)
				}
			}
		}
		if got := s.log.Executed(""); got != before {
			t.Errorf("%d requests reached the upstream", got-before)
		}
		if r := b.tasks(); at(r.result, "tasks") != "[]" {
			t.Errorf("%s", r.raw)
		}
		if r := a.tasks(); !strings.Contains(string(r.raw), id) {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestTaskBytes: the client gets its upstream's task byte for byte, except for the id.
func TestTaskBytes(t *testing.T) {
	result := `{"content":[],"structuredContent":{"n":9223372036854775808,"e":1E400,"s":"\u00e9"},"vendor/x":[1.0,  2]}`
	legacyLegs(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{})
		c := s.connect(l, "")
		r := c.reply(c.callAsTask("lie", `{"result":`+result+`}`, ""))
		id, _ := strconv.Unquote(at(r.result, "task", "taskId"))
		want := `{"task":{"taskId":"` + id + `","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z",` +
			`"vendor":12345678901234567890,"ttl":null,"ttlMs":null,"pollInterval":null,"pollIntervalMs":null},"_meta":{"vendor/kept":1E400}}`
		if string(r.result) != want {
			t.Errorf("the handle is\n%s, want\n%s", r.result, want)
		}
		want = result[:len(result)-1] + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + id + `"}}}`
		if got := c.reply(c.task("result", id)); string(got.result) != want {
			t.Errorf("the result is\n%s, want\n%s", got.result, want)
		}
	})
}

// TestTaskInput: an upstream's requests during a task go to its client, on the stream that waits
// for the result.
func TestTaskInput(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{policy: chain(t, "ask", "push")})
		c := s.connect(l, canElicit)
		other := s.connect(l, canElicit)
		id := c.begin("ask", `{}`)
		s.eventually("it asks", func() bool { return c.standing(id) == "input_required" })
		result := c.task("result", id)
		q := c.await("the question", func(m message) bool { return m.method == "elicitation/create" })
		if got := at(q.params, "_meta", "io.modelcontextprotocol/related-task", "taskId"); got != strconv.Quote(id) {
			t.Errorf("related to %s", got)
		}
		c.send([]byte(`{"jsonrpc":"2.0","id":`+q.id+`,"result":{"action":"accept","content":{"name":"Luca"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}}}}`), nil)
		r := c.reply(result)
		answer := at(r.result, "structuredContent", "answer", "result")
		if at([]byte(answer), "content", "name") != `"Luca"` || strings.Contains(answer, id) || !strings.Contains(answer, "task-") {
			t.Errorf("%s", r.raw)
		}
		if n := other.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
			t.Error("somebody else was asked")
		}
		s.eventually("the call is settled", func() bool { return s.openCalls() == 0 })
	})
}

// TestTaskProgressAndStatus: progress continues under the client's own token, and status changes
// are sent, to its client only.
func TestTaskProgressAndStatus(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		tool := testserver.Tool{Name: "work", Run: func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
			select {
			case <-c.Released:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			c.Progress(1, 2)
			return testserver.Text("done"), nil
		}}
		s := tasked(t, setup{server: testserver.Options{Tools: []testserver.Tool{tool}, Tasks: &testserver.Tasks{Tell: true}}})
		c, other := s.connect(l, ""), s.connect(l, "")
		c.listenToPushes()
		other.listenToPushes()
		r := c.reply(c.callAsTask("work", `{}`, `"progressToken":"mine"`))
		id, _ := strconv.Unquote(at(r.result, "task", "taskId"))
		s.awaitExecuted("work", 1)
		s.awaitListening()
		s.upstream.Release()
		note := c.await("progress", func(m message) bool { return m.method == "notifications/progress" })
		if at(note.params, "progressToken") != `"mine"` || at(note.params, "progress") != "1" {
			t.Errorf("%s", note.raw)
		}
		note = c.await("its end", func(m message) bool { return m.method == "notifications/tasks/status" })
		if at(note.params, "taskId") != strconv.Quote(id) || at(note.params, "status") != `"completed"` {
			t.Errorf("%s", note.raw)
		}
		if n := other.mail.count(func(m message) bool { return m.method != "" }); n != 0 {
			t.Errorf("somebody else was told: %s", other.mail)
		}
	})
}

// TestTaskCapabilities: tasks are offered only if an upstream supports them.
func TestTaskCapabilities(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		for _, c := range []struct{ offered, want string }{
			{`{"tools":{}}`, ""},
			{`{"tools":{},"tasks":{"list":{}}}`, ""},
			{`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, `{"requests":{"tools":{"call":{}}}}`},
			{`{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`, `{"cancel":{},"requests":{"tools":{"call":{}}}}`},
			{`{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`, `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`},
		} {
			s := tasked(t, setup{server: testserver.Options{Capabilities: c.offered}})
			client := s.connect(l, "")
			r := client.reply(client.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":{}}`))
			if offered := r.result != nil; offered != strings.Contains(c.want, "list") {
				t.Errorf("%s: tasks/list: %s", c.offered, r.raw)
			}
			r = client.reply(client.task("cancel", "x"))
			if offered := r.code() == "-32602"; offered != strings.Contains(c.want, "cancel") {
				t.Errorf("%s: tasks/cancel: %s", c.offered, r.raw)
			}
		}
	})
}

// TestTaskPages: the list has all tasks of the session, one page at a time.
func TestTaskPages(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{})
		c := s.connect(l, "")
		want := []string{}
		for range 40 {
			want = append(want, c.begin("safe", `{}`))
		}
		var got []string
		for params := `{}`; params != ""; {
			r := c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":` + params + `}`))
			var page struct {
				Tasks      []struct{ TaskID string }
				NextCursor string
			}
			if err := json.Unmarshal(r.result, &page); err != nil || len(page.Tasks) > 32 {
				t.Fatalf("%s", r.raw)
			}
			for _, x := range page.Tasks {
				got = append(got, x.TaskID)
			}
			params = ""
			if page.NextCursor != "" {
				params = `{"cursor":"` + page.NextCursor + `"}`
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("listed are %d tasks, want %d", len(got), len(want))
		}
		if r := c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":{"cursor":"x"}}`)); r.code() != "-32602" {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestTaskBound: the number of running tasks per session is limited, and finished ones make room.
// Nothing is spent on a call over the limit.
func TestTaskBound(t *testing.T) {
	s := tasked(t, setup{})
	c := s.connect(legs()[0], "")
	for range 128 {
		c.begin("slow", `{}`)
	}
	before := s.state()
	if r := c.reply(c.callAsTask("push", `{}`, "")); r.code() != "-32600" || !strings.Contains(at(r.err, "message"), "128 tasks") {
		t.Errorf("%s", r.raw)
	}
	if s.state() != before {
		t.Error("the state moved")
	}
	s.executed("push", 0)
	var listed struct{ Tasks []struct{ TaskID string } }
	if err := json.Unmarshal(c.tasks().result, &listed); err != nil || len(listed.Tasks) == 0 {
		t.Fatal(err)
	}
	id := listed.Tasks[0].TaskID
	c.must("release", `{}`)
	c.reply(c.task("result", id))
	c.begin("push", `{}`)
}

// TestTaskApproval: a person is asked before the task is created, and once.
func TestTaskApproval(t *testing.T) {
	taskLegs(t, func(*testing.T) setup {
		return setup{change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: 1} }}
	}, func(t *testing.T, s *site, c *client) {
		r := c.reply(c.callAsTask("deploy", `{}`, ""))
		if !c.leg.modern && !strings.Contains(string(r.raw), "approval") || strings.Contains(string(r.raw), "taskId") {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 0)
		if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ann", ""); err != nil {
			t.Fatal(err)
		}
		c.outcome(c.begin("deploy", `{}`))
		s.executed("deploy", 1)
		if r := c.reply(c.callAsTask("deploy", `{}`, "")); strings.Contains(string(r.raw), "taskId") {
			t.Errorf("one approval was good for two tasks: %s", r.raw)
		}
		s.executed("deploy", 1)
	})
}

// TestNoTasks: if the upstream creates no tasks, a call as a task is refused before anything is
// spent.
func TestNoTasks(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		before := s.state()
		if r := c.reply(c.callAsTask("push", `{}`, "")); r.code() != "-32601" {
			t.Errorf("%s", r.raw)
		}
		if s.state() != before {
			t.Error("the state moved")
		}
		s.executed("push", 0)
	})
}

// tasks requests the list of tasks.
func (c *client) tasks() message {
	return c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":{}}`))
}

// awaitListening waits until the proxy receives the notifications of an upstream of the older
// family.
func (s *site) awaitListening() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	_, err := s.log.Await(ctx, func(all []testserver.Record) bool {
		return slices.ContainsFunc(all, func(r testserver.Record) bool { return r.ID == nil })
	}, testserver.Subscribed)
	if err != nil {
		s.t.Fatal(err)
	}
}
