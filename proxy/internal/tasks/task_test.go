package tasks_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// standing returns the task's status as its client sees it.
func standing(c *proxytest.Client, task string) string {
	c.T.Helper()
	r := c.Reply(c.RequestTask("get", task))
	if proxytest.Member(r.Result, "taskId") != strconv.Quote(task) {
		c.T.Fatalf("tasks/get: %s", r.Raw)
	}
	s, _ := strconv.Unquote(proxytest.Member(r.Result, "status"))
	return s
}

// TestTaskSettles checks that a call that becomes a task is decided once, and that it is in flight
// until it is known how the task ended. The outcome determines what happens to the tokens.
func TestTaskSettles(t *testing.T) {
	for _, end := range []struct {
		name, tool, args, place, outcome string
	}{
		{"success", "flaky", `{}`, "done", "success"},
		{"failed result", "flaky", `{"fail":true}`, "ready", "failure"},
		{"error", "flaky", `{"error":1}`, "ready", "failure"},
	} {
		t.Run(end.name, func(t *testing.T) {
			proxytest.TaskLegs(t, func(t *testing.T) proxytest.Setup {
				return proxytest.Setup{Policy: proxytest.ChainPolicy(t, "flaky", "push")}
			}, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
				id := c.BeginTask(end.tool, end.args)
				first, second := c.TaskOutcome(id), c.TaskOutcome(id)
				if string(first.Result) != string(second.Result) || string(first.Error) != string(second.Error) || first.Result == nil && first.Error == nil {
					t.Errorf("the second answer is another one:\n%s\n%s", first.Raw, second.Raw)
				}
				s.ChainSettled(end.place)
				oneEnd(s, "flaky", end.outcome)
				s.Executed("flaky", 1)
			})
		})
	}
}

// oneEnd fails the test unless there was exactly one call of the tool, which became a task and
// ended once.
func oneEnd(s *proxytest.Site, tool, outcome string) {
	s.T.Helper()
	of := func(event string) []proxytest.Record {
		return s.Records.Matching(func(r proxytest.Record) bool { return r.Event == event && r.Tool == "up."+tool })
	}
	// An operator may see that a call has ended a moment before this is recorded. Until then, no
	// other call can pass because of it.
	s.Eventually("the end is on record", func() bool { return len(of("outcome")) > 0 })
	ends, made := of("outcome"), of("task")
	if len(ends) != 1 || ends[0].Outcome != outcome || len(made) != 1 || made[0].Call != ends[0].Call {
		s.T.Errorf("on record are the tasks %+v and the ends %+v, want one %s", made, ends, outcome)
	}
}

// TestTaskInFlight checks that a running task holds its token, and does not count as a success yet.
// Its client never has to poll.
func TestTaskInFlight(t *testing.T) {
	for _, tell := range []bool{false, true} {
		proxytest.TaskLegs(t, func(t *testing.T) proxytest.Setup {
			return proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Server: testserver.Options{Tasks: &testserver.Tasks{Poll: 1, Tell: tell}}}
		}, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
			id := c.BeginTask("slow", `{}`)
			s.ChainInFlight()
			c.Refuses("push", `{}`, "blocked")
			if got := standing(c, id); got != "working" {
				t.Errorf("status %q", got)
			}
			s.ChainInFlight()
			s.Upstream.Release()
			s.ChainSettled("done")
			oneEnd(s, "slow", "success")
		})
	}
}

// TestTaskRequire checks that a call that requires a success is possible as soon as the client can
// learn of the success in any way.
func TestTaskRequire(t *testing.T) {
	proxytest.TaskLegs(t, func(*testing.T) proxytest.Setup { return proxytest.Setup{} }, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
		c.TaskOutcome(c.BeginTask("backup", `{"fail":true}`))
		c.Refuses("delete", `{}`, "blocked")
		id := c.BeginTask("backup", `{}`)
		s.Eventually("it is completed", func() bool { return standing(c, id) == "completed" })
		c.Must("delete", `{}`)
		for range 3 {
			c.BeginTask("push", `{}`)
		}
		r := c.Reply(c.CallAsTask("push", `{}`, ""))
		if !strings.Contains(string(r.Raw), "push has reached its limit of 3 calls per session.") {
			t.Errorf("%s", r.Raw)
		}
		if !c.Leg.Modern && (r.Code() != "-32600" || proxytest.Member(r.Error, "data", "io.petrigate/decision", "kind") != `"blocked"`) {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("push", 3)
	})
}

// TestTaskCancelled checks that a canceled task counts as one that may have been executed.
func TestTaskCancelled(t *testing.T) {
	proxytest.TaskLegs(t, func(t *testing.T) proxytest.Setup {
		return proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push")}
	}, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
		id := c.BeginTask("slow", `{"stubborn":true}`)
		if r := c.Reply(c.RequestTask("cancel", id)); r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		if got := standing(c, id); got != "cancelled" {
			t.Errorf("status %q", got)
		}
		s.ChainInFlight()
		oneEnd(s, "slow", "unknown")
		c.Refuses("push", `{}`, "blocked")
		if r := c.Reply(c.RequestTask("cancel", id)); r.Code() != "-32602" {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestUnknownTaskEndsUnknown checks that the outcome of a task is unknown if its upstream no longer
// knows the task.
func TestUnknownTaskEndsUnknown(t *testing.T) {
	proxytest.TaskLegs(t, func(t *testing.T) proxytest.Setup {
		return proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Server: testserver.Options{Tasks: &testserver.Tasks{Poll: 1}}}
	}, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
		id := c.BeginTask("slow", `{}`)
		s.Upstream.ForgetTasks()
		s.Eventually("it is lost", func() bool { return len(s.Records.Outcomes()) == 1 })
		oneEnd(s, "slow", "unknown")
		s.ChainInFlight()
		if r := c.Reply(c.RequestTask("get", id)); r.Code() != "-32602" {
			t.Errorf("%s", r.Raw)
		}
		oneEnd(s, "slow", "unknown")
	})
}

// TestTaskOfOthers checks that a task belongs to its own session, and that it does not exist for
// others.
func TestTaskOfOthers(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{})
		a, b := s.Connect(l, proxytest.CanTasks), s.Connect(l, proxytest.CanTasks)
		id := a.BeginTask("slow", `{}`)
		before := s.Log.Executed("")
		for _, task := range []string{id, "task-1", "", "x"} {
			for _, method := range []string{"get", "result", "cancel"} {
				if r := b.Reply(b.RequestTask(method, task)); r.Code() != "-32602" {
					t.Errorf("%s of %q: %s", method, task, r.Raw)
				}
			}
		}
		if got := s.Log.Executed(""); got != before {
			t.Errorf("%d requests reached the upstream", got-before)
		}
		if r := tasks(b); proxytest.Member(r.Result, "tasks") != "[]" {
			t.Errorf("%s", r.Raw)
		}
		if r := tasks(a); !strings.Contains(string(r.Raw), id) {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestTaskBytes checks that the client gets its upstream's task byte for byte, except for the ID.
func TestTaskBytes(t *testing.T) {
	result := `{"content":[],"structuredContent":{"n":9223372036854775808,"e":1E400,"s":"\u00e9"},"vendor/x":[1.0,  2]}`
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{})
		c := s.Connect(l, "")
		r := c.Reply(c.CallAsTask("lie", `{"result":`+result+`}`, ""))
		id, _ := strconv.Unquote(proxytest.Member(r.Result, "task", "taskId"))
		want := `{"task":{"taskId":"` + id + `","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z",` +
			`"vendor":12345678901234567890,"ttl":null,"ttlMs":null,"pollInterval":null,"pollIntervalMs":null},"_meta":{"vendor/kept":1E400}}`
		if string(r.Result) != want {
			t.Errorf("the handle is\n%s, want\n%s", r.Result, want)
		}
		want = result[:len(result)-1] + `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"` + id + `"}}}`
		if got := c.Reply(c.RequestTask("result", id)); string(got.Result) != want {
			t.Errorf("the result is\n%s, want\n%s", got.Result, want)
		}
	})
}

// TestTaskInput checks that an upstream's requests during a task go to its client, on the stream
// that waits for the result.
func TestTaskInput(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "ask", "push")})
		c := s.Connect(l, proxytest.CanElicit)
		other := s.Connect(l, proxytest.CanElicit)
		id := c.BeginTask("ask", `{}`)
		s.Eventually("it asks", func() bool { return standing(c, id) == "input_required" })
		result := c.RequestTask("result", id)
		q := c.Await("the question", func(m proxytest.Message) bool { return m.Method == "elicitation/create" })
		if got := proxytest.Member(q.Params, "_meta", "io.modelcontextprotocol/related-task", "taskId"); got != strconv.Quote(id) {
			t.Errorf("related to %s", got)
		}
		c.Send([]byte(`{"jsonrpc":"2.0","id":`+q.ID+`,"result":{"action":"accept","content":{"name":"Luca"},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}}}}`), nil)
		r := c.Reply(result)
		answer := proxytest.Member(r.Result, "structuredContent", "answer", "result")
		if proxytest.Member([]byte(answer), "content", "name") != `"Luca"` || strings.Contains(answer, id) || !strings.Contains(answer, "task-") {
			t.Errorf("%s", r.Raw)
		}
		if n := other.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
			t.Error("somebody else was asked")
		}
		s.Eventually("the call is settled", func() bool { return s.OpenCalls() == 0 })
	})
}

// TestTaskProgressAndStatus checks that progress continues under the client's own token, and that
// status changes are sent only to the task's client.
func TestTaskProgressAndStatus(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		tool := testserver.Tool{Name: "work", Run: func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
			select {
			case <-c.Released:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			c.Progress(1, 2)
			return testserver.Text("done"), nil
		}}
		s := proxytest.StartWithTasks(t, proxytest.Setup{Server: testserver.Options{Tools: []testserver.Tool{tool}, Tasks: &testserver.Tasks{Tell: true}}})
		c, other := s.Connect(l, ""), s.Connect(l, "")
		c.ListenToPushes()
		other.ListenToPushes()
		r := c.Reply(c.CallAsTask("work", `{}`, `"progressToken":"mine"`))
		id, _ := strconv.Unquote(proxytest.Member(r.Result, "task", "taskId"))
		s.AwaitExecuted("work", 1)
		awaitListening(s)
		s.Upstream.Release()
		note := c.Await("progress", func(m proxytest.Message) bool { return m.Method == "notifications/progress" })
		if proxytest.Member(note.Params, "progressToken") != `"mine"` || proxytest.Member(note.Params, "progress") != "1" {
			t.Errorf("%s", note.Raw)
		}
		note = c.Await("its end", func(m proxytest.Message) bool { return m.Method == "notifications/tasks/status" })
		if proxytest.Member(note.Params, "taskId") != strconv.Quote(id) || proxytest.Member(note.Params, "status") != `"completed"` {
			t.Errorf("%s", note.Raw)
		}
		if n := other.Mail.Count(func(m proxytest.Message) bool { return m.Method != "" }); n != 0 {
			t.Errorf("somebody else was told: %s", other.Mail)
		}
	})
}

// TestTaskCapabilities checks that tasks are offered only if an upstream supports them.
func TestTaskCapabilities(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		for _, c := range []struct{ offered, want string }{
			{`{"tools":{}}`, ""},
			{`{"tools":{},"tasks":{"list":{}}}`, ""},
			{`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, `{"requests":{"tools":{"call":{}}}}`},
			{`{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`, `{"cancel":{},"requests":{"tools":{"call":{}}}}`},
			{`{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`, `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`},
		} {
			s := proxytest.StartWithTasks(t, proxytest.Setup{Server: testserver.Options{Capabilities: c.offered}})
			client := s.Connect(l, "")
			r := client.Reply(client.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":{}}`))
			if offered := r.Result != nil; offered != strings.Contains(c.want, "list") {
				t.Errorf("%s: tasks/list: %s", c.offered, r.Raw)
			}
			r = client.Reply(client.RequestTask("cancel", "x"))
			if offered := r.Code() == "-32602"; offered != strings.Contains(c.want, "cancel") {
				t.Errorf("%s: tasks/cancel: %s", c.offered, r.Raw)
			}
		}
	})
}

// TestTaskPages checks that the list contains all tasks of the session, one page at a time.
func TestTaskPages(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{})
		c := s.Connect(l, "")
		want := []string{}
		for range 40 {
			want = append(want, c.BeginTask("safe", `{}`))
		}
		var got []string
		for params := `{}`; params != ""; {
			r := c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":` + params + `}`))
			var page struct {
				Tasks      []struct{ TaskID string }
				NextCursor string
			}
			if err := json.Unmarshal(r.Result, &page); err != nil || len(page.Tasks) > 32 {
				t.Fatalf("%s", r.Raw)
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
		if r := c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":{"cursor":"x"}}`)); r.Code() != "-32602" {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestTaskBound checks that the number of running tasks per session is limited, and that finished
// tasks make room. A call over the limit must not use up anything.
func TestTaskBound(t *testing.T) {
	s := proxytest.StartWithTasks(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[0], "")
	for range 128 {
		c.BeginTask("slow", `{}`)
	}
	before := s.State()
	if r := c.Reply(c.CallAsTask("push", `{}`, "")); r.Code() != "-32600" || !strings.Contains(proxytest.Member(r.Error, "message"), "128 tasks") {
		t.Errorf("%s", r.Raw)
	}
	if s.State() != before {
		t.Error("the state moved")
	}
	s.Executed("push", 0)
	var listed struct{ Tasks []struct{ TaskID string } }
	if err := json.Unmarshal(tasks(c).Result, &listed); err != nil || len(listed.Tasks) == 0 {
		t.Fatal(err)
	}
	id := listed.Tasks[0].TaskID
	c.Must("release", `{}`)
	c.Reply(c.RequestTask("result", id))
	c.BeginTask("push", `{}`)
}

// TestTaskApproval checks that a person is asked once, before the task is created.
func TestTaskApproval(t *testing.T) {
	proxytest.TaskLegs(t, func(*testing.T) proxytest.Setup {
		return proxytest.Setup{Change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: 1} }}
	}, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
		r := c.Reply(c.CallAsTask("deploy", `{}`, ""))
		if !c.Leg.Modern && !strings.Contains(string(r.Raw), "approval") || strings.Contains(string(r.Raw), "taskId") {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 0)
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ann", ""); err != nil {
			t.Fatal(err)
		}
		c.TaskOutcome(c.BeginTask("deploy", `{}`))
		s.Executed("deploy", 1)
		if r := c.Reply(c.CallAsTask("deploy", `{}`, "")); strings.Contains(string(r.Raw), "taskId") {
			t.Errorf("one approval was good for two tasks: %s", r.Raw)
		}
		s.Executed("deploy", 1)
	})
}

// TestNoTasks checks that a call as a task is refused before it uses up anything if the upstream
// creates no tasks.
func TestNoTasks(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		before := s.State()
		if r := c.Reply(c.CallAsTask("push", `{}`, "")); r.Code() != "-32601" {
			t.Errorf("%s", r.Raw)
		}
		if s.State() != before {
			t.Error("the state moved")
		}
		s.Executed("push", 0)
	})
}

// tasks requests the list of tasks.
func tasks(c *proxytest.Client) proxytest.Message {
	return c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/list","params":{}}`))
}

// awaitListening waits until the proxy receives notifications from an upstream of the older family.
func awaitListening(s *proxytest.Site) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), proxytest.Patience)
	defer cancel()
	_, err := s.Log.Await(ctx, func(all []testserver.Record) bool {
		return slices.ContainsFunc(all, func(r testserver.Record) bool { return r.ID == nil })
	}, testserver.Subscribed)
	if err != nil {
		s.T.Fatal(err)
	}
}
