package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// insisting is a site in front of an upstream of 2026-07-28 that runs all calls as tasks, and
// refuses clients that do not support tasks.
func insisting(t *testing.T, s setup) *site {
	s.server.Eras = testserver.Modern
	s.server.Tasks = &testserver.Tasks{Poll: 1}
	return tasked(t, s)
}

// TestDrivenTask: a client of 2025-11-25 sees a call that its upstream runs as a task like any
// other call: the gate decides once, and learns the end before the client does.
func TestDrivenTask(t *testing.T) {
	for _, end := range []struct{ args, place, outcome, text string }{
		{`{}`, "done", "success", "flaky {}"},
		{`{"fail":true}`, "ready", "failure", "flaky failed"},
		{`{"error":1}`, "ready", "failure", "flaky failed"},
	} {
		legacyLegs(t, func(t *testing.T, l leg) {
			s := insisting(t, setup{policy: chain(t, "flaky")})
			c := s.connect(l, "")
			r := c.do("flaky", end.args)
			if !strings.Contains(string(r.raw), end.text) || strings.Contains(string(r.raw), "resultType") || (end.text == "flaky failed") != (r.isError() || r.err != nil) {
				t.Errorf("%s", r.raw)
			}
			if n := s.openCalls(); n != 0 {
				t.Errorf("%d calls are open", n)
			}
			s.settled(end.place)
			s.oneEnd("flaky", end.outcome)
			s.executed("flaky", 1)
			if n := len(s.records.decisions("allow")); n != 1 {
				t.Errorf("%d decisions", n)
			}
		})
	}
}

// TestDrivenTaskAsks: the upstream's input requests during the task are sent on the stream of the
// call, once.
func TestDrivenTaskAsks(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := insisting(t, setup{policy: chain(t, "ask")})
		c := s.connect(l, canElicit)
		call := c.call("ask", `{}`)
		q := c.questioned("elicitation/create")
		s.inFlight()
		c.respond(q.id, nameGiven)
		if r := c.reply(call); !strings.Contains(string(r.raw), nameGiven) {
			t.Errorf("%s", r.raw)
		}
		if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
			t.Errorf("%d times more: %s", n, c.mail)
		}
		s.settled("done")
		s.executed("ask", 1)

		s = insisting(t, setup{policy: netPolicy(t)})
		mute := s.connect(l, "")
		if r := mute.do("ask", `{}`); !r.isError() || !strings.Contains(r.text(), "The upstream up asked for input that cannot be had.") {
			t.Errorf("%s", r.raw)
		}
		s.eventually("the task is ended", func() bool { return len(s.records.outcomes()) == 1 })
		s.oneEnd("ask", "unknown")
	})
}

// TestDrivenTaskCancelled: a client that cancels the call ends the task.
func TestDrivenTaskCancelled(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := insisting(t, setup{policy: chain(t, "slow")})
		c := s.connect(l, "")
		call := c.call("slow", `{}`)
		s.awaitExecuted("slow", 1)
		s.eventually("it is a task", func() bool {
			return len(s.records.matching(func(r record) bool { return r.Event == "task" })) == 1
		})
		c.cancel(call)
		s.eventually("its end is known", func() bool { return len(s.records.outcomes()) == 1 })
		s.oneEnd("slow", "unknown")
		if n := c.mail.count(func(m message) bool { return m.method == "" && m.id == call }); n != 0 {
			t.Errorf("a call that was given up was answered: %s", c.mail)
		}
	})
}

// TestDrivenTaskLost: if the upstream does not know the task any more, the outcome is unknown.
func TestDrivenTaskLost(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := insisting(t, setup{policy: chain(t, "slow")})
		c := s.connect(l, "")
		call := c.call("slow", `{}`)
		s.awaitExecuted("slow", 1)
		s.eventually("it is a task", func() bool {
			return len(s.records.matching(func(r record) bool { return r.Event == "task" })) == 1
		})
		s.upstream.ForgetTasks()
		if r := c.reply(call); !r.isError() || !strings.Contains(r.text(), "The outcome of slow is unknown") {
			t.Errorf("%s", r.raw)
		}
		s.oneEnd("slow", "unknown")
		if r := c.tasks(); r.code() != "-32601" { // the client never hears of it
			t.Errorf("%s", r.raw)
		}
	})
}

// TestDrivenOnce: an upstream's repeated refusal reaches the client, and a call refused for another
// reason is not sent again.
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
		legacyLegs(t, func(t *testing.T, l leg) {
			tool := testserver.Tool{Name: "stern", Task: "never", Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
				return nil, &testserver.Error{Raw: json.RawMessage(c.failure)}
			}}
			s := insisting(t, setup{policy: netPolicy(t), server: testserver.Options{Tools: []testserver.Tool{tool}}})
			client := s.connect(l, "")
			differ(t, "error", string(client.do("stern", `{}`).err), c.failure)
			s.executed("stern", c.times)
		})
	}
}
