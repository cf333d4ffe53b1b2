package tasks_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestDrivenTask checks that for a client of 2025-11-25, a call that its upstream runs as a task
// looks like any other call. The gate decides once, and learns how the call ended before the client
// does.
func TestDrivenTask(t *testing.T) {
	for _, end := range []struct{ args, place, outcome, text string }{
		{`{}`, "done", "success", "flaky {}"},
		{`{"fail":true}`, "ready", "failure", "flaky failed"},
		{`{"error":1}`, "ready", "failure", "flaky failed"},
	} {
		proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.StartTasksOnly(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "flaky")})
			c := s.Connect(l, "")
			r := c.Do("flaky", end.args)
			if !strings.Contains(string(r.Raw), end.text) || strings.Contains(string(r.Raw), "resultType") || (end.text == "flaky failed") != (r.IsError() || r.Error != nil) {
				t.Errorf("%s", r.Raw)
			}
			if n := s.OpenCalls(); n != 0 {
				t.Errorf("%d calls are open", n)
			}
			s.ChainSettled(end.place)
			oneEnd(s, "flaky", end.outcome)
			s.Executed("flaky", 1)
			if n := len(s.Records.Decisions("allow")); n != 1 {
				t.Errorf("%d decisions", n)
			}
		})
	}
}

// TestDrivenTaskAsks checks that the upstream's input requests during the task are sent once, on
// the stream of the call.
func TestDrivenTaskAsks(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartTasksOnly(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "ask")})
		c := s.Connect(l, proxytest.CanElicit)
		call := c.Call("ask", `{}`)
		q := c.AwaitRequest("elicitation/create")
		s.ChainInFlight()
		c.Respond(q.ID, proxytest.NameGiven)
		if r := c.Reply(call); !strings.Contains(string(r.Raw), proxytest.NameGiven) {
			t.Errorf("%s", r.Raw)
		}
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
			t.Errorf("%d times more: %s", n, c.Mail)
		}
		s.ChainSettled("done")
		s.Executed("ask", 1)

		s = proxytest.StartTasksOnly(t, proxytest.Setup{Policy: proxytest.NetPolicy(t)})
		mute := s.Connect(l, "")
		if r := mute.Do("ask", `{}`); !r.IsError() || !strings.Contains(r.Text(), "The upstream up asked for input that is not available.") {
			t.Errorf("%s", r.Raw)
		}
		s.Eventually("the task is ended", func() bool { return len(s.Records.Outcomes()) == 1 })
		oneEnd(s, "ask", "unknown")
	})
}

// TestDrivenTaskCancelled checks that a client that cancels the call ends the task.
func TestDrivenTaskCancelled(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartTasksOnly(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow")})
		c := s.Connect(l, "")
		call := c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 1)
		s.Eventually("it is a task", func() bool {
			return len(s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "task" })) == 1
		})
		c.Cancel(call)
		s.Eventually("its end is known", func() bool { return len(s.Records.Outcomes()) == 1 })
		oneEnd(s, "slow", "unknown")
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "" && m.ID == call }); n != 0 {
			t.Errorf("a call that was given up was answered: %s", c.Mail)
		}
	})
}

// TestDrivenTaskLost checks that if the upstream no longer knows the task, the outcome is
// unknown.
func TestDrivenTaskLost(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.StartTasksOnly(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "slow")})
		c := s.Connect(l, "")
		call := c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 1)
		s.Eventually("it is a task", func() bool {
			return len(s.Records.Matching(func(r proxytest.Record) bool { return r.Event == "task" })) == 1
		})
		s.Upstream.ForgetTasks()
		if r := c.Reply(call); !r.IsError() || !strings.Contains(r.Text(), "The outcome of slow is unknown") {
			t.Errorf("%s", r.Raw)
		}
		oneEnd(s, "slow", "unknown")
		if r := tasks(c); r.Code() != "-32601" { // the client does not know the task
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestDrivenOnce checks that an upstream's repeated refusal reaches the client, and that a call
// refused for another reason is not sent again.
func TestDrivenOnce(t *testing.T) {
	const wants = `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	for _, c := range []struct {
		failure string
		times   int
	}{
		{`{"code":-32021,"message":"no","data":` + wants + `}`, 2},
		{`{"code":-32021,"message":"no","data":{"requiredCapabilities":{"sampling":{}}}}`, 1},
		{`{"code":-32021,"message":"no"}`, 1},
		{`{"code":-32602,"message":"no","data":` + wants + `}`, 1},
	} {
		proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
			tool := testserver.Tool{Name: "stern", Task: "never", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
				return nil, &testserver.Error{Raw: json.RawMessage(c.failure)}
			}}
			s := proxytest.StartTasksOnly(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: testserver.Options{Tools: []testserver.Tool{tool}}})
			client := s.Connect(l, "")
			proxytest.CompareText(t, "error", string(client.Do("stern", `{}`).Error), c.failure)
			s.Executed("stern", c.times)
		})
	}
}
