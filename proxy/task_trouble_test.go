package proxy_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestTaskOfDeadProcess: a task might continue elsewhere when the process that created it has died:
// only its upstream knows, and the next process does not.
func TestTaskOfDeadProcess(t *testing.T) {
	t.Parallel()
	eachLeg(t, func(t *testing.T, l leg) {
		up, _ := child(t, "--tasks --poll 1")
		s := start(t, setup{policy: chain(t, "slow", "push"), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.connect(l, takesTasks)
		c.begin("slow", `{}`)
		s.inFlight()
		c.do("crash", `{}`)
		s.eventually("it is lost", func() bool {
			return len(s.records.matching(func(r record) bool { return r.Event == "outcome" && r.Tool == "up.slow" })) == 1
		})
		s.oneEnd("slow", "unknown")
		if n := s.openCalls(); n != 2 { // the crash is unknown as well
			t.Errorf("%d open calls", n)
		}
		if state := s.state(); !strings.Contains(state, `"InFlight": 1`) {
			t.Errorf("the token is not in flight: %s", state)
		}
	})
}

// TestTaskKeepsItsProcess: a client with further capabilities requires a new handshake, and so a
// new process, but not while a task is running.
func TestTaskKeepsItsProcess(t *testing.T) {
	up, _ := child(t, "--tasks --era legacy")
	s := start(t, setup{policy: chain(t, "slow", "push"), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
	a := s.connect(legs()[0], "")
	id := a.begin("slow", `{}`)
	pid := s.proxy.Status().Upstreams[0].Pid
	b := s.connect(legs()[1], `{"elicitation":{},"sampling":{},"roots":{}}`)
	b.must("safe", `{}`)
	if now := s.proxy.Status().Upstreams[0].Pid; now != pid {
		t.Errorf("the process is another one")
	}
	if got := a.standing(id); got != "working" {
		t.Errorf("status %q", got)
	}
	a.must("release", `{}`)
	a.outcome(id)
	s.eventually("it is settled", func() bool {
		return len(s.records.matching(func(r record) bool { return r.Outcome == "success" && r.Tool == "up.slow" })) == 1
	})
}

// TestTaskTwice: an upstream that gives two tasks the same id is not trusted: the second has an
// unknown outcome, and the first is unaffected.
func TestTaskTwice(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := tasked(t, setup{policy: chain(t, "lie", "push"), server: testserver.Options{Capabilities: `{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, Tools: untasked("lie")}})
		a, b := s.connect(l, ""), s.connect(l, "")
		handle := `{"result":{"task":{"taskId":"x1","status":"working"}}}`
		r := a.reply(a.callAsTask("lie", handle, ""))
		if at(r.result, "task", "taskId") == "" {
			t.Fatalf("%s", r.raw)
		}
		r = b.reply(b.callAsTask("lie", handle, ""))
		if r.code() != "-32600" || at(r.err, "data", "io.petrigate/decision", "kind") != `"unknown"` {
			t.Errorf("%s", r.raw)
		}
		if n := s.openCalls(); n != 2 {
			t.Errorf("%d calls are open, want 2", n)
		}
	})
}

// TestTaskHandlesThatAreNone: an ambiguous or unrequested task is not accepted as a task.
func TestTaskHandlesThatAreNone(t *testing.T) {
	for _, handle := range []string{
		`{"task":{"taskId":"x1","status":"working","Status":"completed"}}`,
		`{"task":{"taskId":"","status":"working"}}`,
		`{"task":{"taskId":7,"status":"working"}}`,
		`{"task":[]}`,
		`{"Task":{"taskId":"x1","status":"working"},"task":{"taskId":"x1","status":"working"}}`,
		`{"resultType":"task","taskId":"x1","status":"working"}`,
	} {
		legacyLegs(t, func(t *testing.T, l leg) {
			s := tasked(t, setup{policy: chain(t, "lie", "push"), server: testserver.Options{Tools: untasked("lie")}})
			c := s.connect(l, "")
			r := c.reply(c.callAsTask("lie", `{"result":`+handle+`}`, ""))
			if r.result != nil && !r.isError() {
				t.Errorf("%s: %s", handle, r.raw)
			}
			if s.marking("chain", "done") != 0 {
				t.Errorf("%s is a success", handle)
			}
			if r := c.tasks(); at(r.result, "tasks") != "[]" {
				t.Errorf("%s: %s", handle, r.raw)
			}
		})
	}
}

// untasked returns the attack tool of a name that creates no task of its own.
func untasked(name string) []testserver.Tool {
	for _, tool := range testserver.Attack() {
		if tool.Name == name {
			tool.Task = "never"
			return []testserver.Tool{tool}
		}
	}
	return nil
}

// TestTaskInShadow: shadow nets stop no task, and their marking follows its end nevertheless.
func TestTaskInShadow(t *testing.T) {
	taskLegs(t, func(t *testing.T) setup {
		return setup{policy: inShadow(t, "require backup before delete\nblock danger\n", "")}
	}, func(t *testing.T, s *site, c *client) {
		for _, tool := range []string{"danger", "delete", "backup", "delete"} {
			c.outcome(c.begin(tool, `{}`))
		}
		report, err := s.proxy.Shadow("")
		if err != nil || report.Refused != 2 {
			t.Errorf("%d calls would have been refused, want danger and the first delete: %+v, %v", report.Refused, report.Would, err)
		}
	})
}

// TestTaskOutlivesItsSession: nets that sessions share learn the end of a task whose session has
// ended.
func TestTaskOutlivesItsSession(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		policy := netPolicy(t, gate.Net{
			Name: "chain", Scope: gate.ScopeGlobal, Places: []string{"ready", "done"}, Initial: map[string]int{"ready": 1},
			Transitions: []gate.Transition{{Name: "do", Inputs: []string{"ready"}, Outputs: []string{"done"}, Tools: gate.Tools("slow", "push"), Deferred: true}},
		})
		s := tasked(t, setup{policy: policy, server: testserver.Options{Tasks: &testserver.Tasks{Poll: 1}}})
		a := s.connect(l, "")
		id := a.begin("slow", `{}`)
		a.close()
		b := s.connect(l, "")
		b.refuses("push", `{}`, "blocked")
		if r := b.reply(b.task("get", id)); r.code() != "-32602" {
			t.Errorf("%s", r.raw)
		}
		s.upstream.Release()
		s.eventually("it is settled", func() bool { return s.marking("chain", "done") == 1 })
		s.oneEnd("slow", "success")
	})
}

// TestTaskFlood: endless notifications of an upstream about a task cause one request at a time.
func TestTaskFlood(t *testing.T) {
	s := tasked(t, setup{policy: chain(t, "slow")})
	c := s.connect(legs()[0], "")
	id := c.begin("slow", `{}`)
	s.awaitListening()
	for i := range 2000 {
		s.upstream.Notify("notifications/tasks/status", `{"taskId":"task-1","status":"completed","n":`+strconv.Itoa(i)+`}`)
		s.upstream.Notify("notifications/tasks/status", `{"taskId":"nobody","status":"completed"}`)
	}
	if n := s.proxy.Status().Goroutines; n > 500 {
		t.Errorf("%d goroutines", n)
	}
	s.upstream.Release()
	if r := c.outcome(id); !strings.Contains(string(r.raw), "released") {
		t.Errorf("%s", r.raw)
	}
	s.settled("done")
}

// TestTaskOfCancelledCall: a client that cancels its call before it gets the task does not leave
// the token in flight: the proxy finds out the end of the task.
func TestTaskOfCancelledCall(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		begins := testserver.Tool{Name: "begins", Task: "never", Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			<-c.Released
			return json.RawMessage(`{"task":{"taskId":"late","status":"working","pollInterval":1}}`), nil
		}}
		s := tasked(t, setup{policy: chain(t, "begins", "push"), server: testserver.Options{Tools: []testserver.Tool{begins}, Methods: map[string]testserver.Method{
			"tasks/get": func(context.Context, *testserver.Call) (json.RawMessage, error) {
				return json.RawMessage(`{"taskId":"late","status":"completed"}`), nil
			},
			"tasks/result": func(context.Context, *testserver.Call) (json.RawMessage, error) { return testserver.Text("done"), nil },
		}}})
		c := s.connect(l, "")
		call := c.callAsTask("begins", `{}`, "")
		s.awaitExecuted("begins", 1)
		c.cancel(call)
		s.eventually("it is given up", func() bool { return len(s.records.outcomes()) == 1 })
		s.inFlight()
		s.upstream.Release()
		s.settled("done")
		if got := s.records.outcomes(); len(got) != 2 || got[0].Outcome != "unknown" || got[1].Outcome != "success" {
			t.Errorf("%+v", got)
		}
	})
}

// TestTaskInItsOwnProcess: the tasks of a session with a dedicated connection are polled there.
func TestTaskInItsOwnProcess(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		up, _ := child(t, "--tasks --poll 1")
		up.Isolation = proxy.IsolateSession
		s := start(t, setup{policy: chain(t, "slow", "push"), change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.connect(l, takesTasks)
		id := c.begin("slow", `{}`)
		s.inFlight()
		if got := c.standing(id); got != "working" {
			t.Errorf("status %q", got)
		}
		c.do("release", `{}`)
		if r := c.outcome(id); !strings.Contains(string(r.raw), "released") {
			t.Errorf("%s", r.raw)
		}
		s.settled("done")
	})
}
