package tasks_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestTaskOfDeadProcess checks a task whose process has died. Only the upstream knows whether the
// task continues elsewhere, and the next process does not know the task.
func TestTaskOfDeadProcess(t *testing.T) {
	t.Parallel()
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		up, _ := proxytest.ChildUpstream(t, "--tasks --poll 1")
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.Connect(l, proxytest.CanTasks)
		c.BeginTask("slow", `{}`)
		s.ChainInFlight()
		c.Do("crash", `{}`)
		s.Eventually("it is lost", func() bool {
			return len(s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "outcome" && r.Tool == "up.slow" })) == 1
		})
		oneEnd(s, "slow", "unknown")
		if n := s.OpenCalls(); n != 2 { // the outcome of the call that has crashed the server is unknown, too
			t.Errorf("%d open calls", n)
		}
		if state := s.State(); !strings.Contains(state, `"InFlight": 1`) {
			t.Errorf("the token is not in flight: %s", state)
		}
	})
}

// TestTaskKeepsItsProcess checks that a client with further capabilities causes a new handshake,
// and thus a new process, but not while a task is running.
func TestTaskKeepsItsProcess(t *testing.T) {
	up, _ := proxytest.ChildUpstream(t, "--tasks --era legacy")
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
	a := s.Connect(proxytest.Legs()[0], "")
	id := a.BeginTask("slow", `{}`)
	pid := s.Proxy.Status().Upstreams[0].Pid
	b := s.Connect(proxytest.Legs()[1], `{"elicitation":{},"sampling":{},"roots":{}}`)
	b.Must("safe", `{}`)
	if now := s.Proxy.Status().Upstreams[0].Pid; now != pid {
		t.Errorf("the process is another one")
	}
	if got := standing(a, id); got != "working" {
		t.Errorf("status %q", got)
	}
	a.Must("release", `{}`)
	a.TaskOutcome(id)
	s.Eventually("it is settled", func() bool {
		return len(s.Records.Matching(func(r proxytest.Record) bool { return r.Outcome == "success" && r.Tool == "up.slow" })) == 1
	})
}

// TestTaskTwice checks that an upstream that gives two tasks the same ID is not trusted: the
// outcome of the second is unknown, and the first is unaffected.
func TestTaskTwice(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "lie", "push"), Server: testserver.Options{Capabilities: `{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`, Tools: untasked("lie")}})
		a, b := s.Connect(l, ""), s.Connect(l, "")
		handle := `{"result":{"task":{"taskId":"x1","status":"working"}}}`
		r := a.Reply(a.CallAsTask("lie", handle, ""))
		if proxytest.Member(r.Result, "task", "taskId") == "" {
			t.Fatalf("%s", r.Raw)
		}
		r = b.Reply(b.CallAsTask("lie", handle, ""))
		if r.Code() != "-32600" || proxytest.Member(r.Error, "data", "io.petrigate/decision", "kind") != `"unknown"` {
			t.Errorf("%s", r.Raw)
		}
		if n := s.OpenCalls(); n != 2 {
			t.Errorf("%d calls are open, want 2", n)
		}
	})
}

// TestTaskHandlesThatAreNone checks that an ambiguous or unrequested task is not accepted.
func TestTaskHandlesThatAreNone(t *testing.T) {
	for _, handle := range []string{
		`{"task":{"taskId":"x1","status":"working","Status":"completed"}}`,
		`{"task":{"taskId":"","status":"working"}}`,
		`{"task":{"taskId":7,"status":"working"}}`,
		`{"task":[]}`,
		`{"Task":{"taskId":"x1","status":"working"},"task":{"taskId":"x1","status":"working"}}`,
		`{"resultType":"task","taskId":"x1","status":"working"}`,
	} {
		proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "lie", "push"), Server: testserver.Options{Tools: untasked("lie")}})
			c := s.Connect(l, "")
			r := c.Reply(c.CallAsTask("lie", `{"result":`+handle+`}`, ""))
			if r.Result != nil && !r.IsError() {
				t.Errorf("%s: %s", handle, r.Raw)
			}
			if s.Marking("chain", "done") != 0 {
				t.Errorf("%s is a success", handle)
			}
			if r := tasks(c); proxytest.Member(r.Result, "tasks") != "[]" {
				t.Errorf("%s: %s", handle, r.Raw)
			}
		})
	}
}

// untasked returns the attack tool with the given name, which does not create tasks itself.
func untasked(name string) []testserver.Tool {
	for _, tool := range testserver.Attack() {
		if tool.Name == name {
			tool.Task = "never"
			return []testserver.Tool{tool}
		}
	}
	return nil
}

// TestTaskInShadow checks that nets in shadow mode stop no task, and that their marking
// nevertheless follows the task's outcome.
func TestTaskInShadow(t *testing.T) {
	proxytest.TaskLegs(t, func(t *testing.T) proxytest.Setup {
		return proxytest.Setup{Policy: proxytest.ShadowPolicy(t, "require backup before delete\nblock danger\n", "")}
	}, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
		for _, tool := range []string{"danger", "delete", "backup", "delete"} {
			c.TaskOutcome(c.BeginTask(tool, `{}`))
		}
		report, err := s.Proxy.Shadow("")
		if err != nil || report.Refused != 2 {
			t.Errorf("%d calls would have been refused, want danger and the first delete: %+v, %v", report.Refused, report.Would, err)
		}
	})
}

// TestTaskOutlivesItsSession checks that nets shared by several sessions learn how a task ended
// whose session has already ended.
func TestTaskOutlivesItsSession(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		policy := proxytest.NetPolicy(t, gate.Net{
			Name: "chain", Scope: gate.ScopeGlobal, Places: []string{"ready", "done"}, Initial: map[string]int{"ready": 1},
			Transitions: []gate.Transition{{Name: "do", Inputs: []string{"ready"}, Outputs: []string{"done"}, Tools: gate.Tools("slow", "push"), Deferred: true}},
		})
		s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: policy, Server: testserver.Options{Tasks: &testserver.Tasks{Poll: 1}}})
		a := s.Connect(l, "")
		id := a.BeginTask("slow", `{}`)
		a.Close()
		b := s.Connect(l, "")
		b.Refuses("push", `{}`, "blocked")
		if r := b.Reply(b.RequestTask("get", id)); r.Code() != "-32602" {
			t.Errorf("%s", r.Raw)
		}
		s.Upstream.Release()
		s.Eventually("it is settled", func() bool { return s.Marking("chain", "done") == 1 })
		oneEnd(s, "slow", "success")
	})
}

// TestTaskFlood checks that an upstream's endless notifications about a task cause only one request
// at a time.
func TestTaskFlood(t *testing.T) {
	s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow")})
	c := s.Connect(proxytest.Legs()[0], "")
	id := c.BeginTask("slow", `{}`)
	awaitListening(s)
	for i := range 2000 {
		s.Upstream.Notify("notifications/tasks/status", `{"taskId":"task-1","status":"completed","n":`+strconv.Itoa(i)+`}`)
		s.Upstream.Notify("notifications/tasks/status", `{"taskId":"nobody","status":"completed"}`)
	}
	if n := s.Proxy.Status().Goroutines; n > 500 {
		t.Errorf("%d goroutines", n)
	}
	s.Upstream.Release()
	if r := c.TaskOutcome(id); !strings.Contains(string(r.Raw), "released") {
		t.Errorf("%s", r.Raw)
	}
	s.ChainSettled("done")
}

// TestTaskOfCancelledCall checks that a client that cancels its call before it receives the task
// does not leave the token in flight: the proxy finds out how the task ended.
func TestTaskOfCancelledCall(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		begins := testserver.Tool{Name: "begins", Task: "never", Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
			<-c.Released
			return json.RawMessage(`{"task":{"taskId":"late","status":"working","pollInterval":1}}`), nil
		}}
		s := proxytest.StartWithTasks(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "begins", "push"), Server: testserver.Options{Tools: []testserver.Tool{begins}, Methods: map[string]testserver.Method{
			"tasks/get": func(context.Context, *testserver.Call) (json.RawMessage, error) {
				return json.RawMessage(`{"taskId":"late","status":"completed"}`), nil
			},
			"tasks/result": func(context.Context, *testserver.Call) (json.RawMessage, error) { return testserver.Text("done"), nil },
		}}})
		c := s.Connect(l, "")
		call := c.CallAsTask("begins", `{}`, "")
		s.AwaitExecuted("begins", 1)
		c.Cancel(call)
		s.Eventually("it is given up", func() bool { return len(s.Records.Outcomes()) == 1 })
		s.ChainInFlight()
		s.Upstream.Release()
		s.ChainSettled("done")
		s.Eventually("the outcome of the task is recorded", func() bool { return len(s.Records.Outcomes()) == 2 })
		if got := s.Records.Outcomes(); got[0].Outcome != "unknown" || got[1].Outcome != "success" {
			t.Errorf("%+v", got)
		}
	})
}

// TestTaskInItsOwnProcess checks that the tasks of a session with a dedicated connection are polled
// there.
func TestTaskInItsOwnProcess(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		up, _ := proxytest.ChildUpstream(t, "--tasks --poll 1")
		up.Isolation = proxy.IsolateSession
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow", "push"), Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{up} }})
		c := s.Connect(l, proxytest.CanTasks)
		id := c.BeginTask("slow", `{}`)
		s.ChainInFlight()
		if got := standing(c, id); got != "working" {
			t.Errorf("status %q", got)
		}
		c.Do("release", `{}`)
		if r := c.TaskOutcome(id); !strings.Contains(string(r.Raw), "released") {
			t.Errorf("%s", r.Raw)
		}
		s.ChainSettled("done")
	})
}
