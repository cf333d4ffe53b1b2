package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// bothChannels asks the client and an operator.
func bothChannels() proxytest.Setup {
	return proxytest.Setup{Change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Hour}
	}}
}

// TestCancelGoesOn: cancel means that no person was asked; the operator still can be.
func TestCancelGoesOn(t *testing.T) {
	for _, answer := range []string{proxytest.Cancel, `{}`, `{"action":"later"}`} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, bothChannels())
			c := s.Connect(l, proxytest.CanElicit)
			id := c.Asks("deploy", `{}`).Send(answer)
			c.Must("safe", `{}`)
			s.Executed("deploy", 0)
			if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if r := c.Reply(id); r.IsError() || r.Result == nil {
				t.Errorf("%s", r.Raw)
			}
			s.Executed("deploy", 1)
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
				t.Errorf("asked again: %s", c.Mail)
			}
		})
	}
}

// TestFirstAnswerWins: all channels are open at once. The operator answers first: this answer
// counts, and the client is told that its answer is not needed any more.
func TestFirstAnswerWins(t *testing.T) {
	for _, yes := range []bool{true, false} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, bothChannels())
			c := s.Connect(l, proxytest.CanElicit)
			q := c.Asks("deploy", `{}`)
			if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, yes, "ada", ""); err != nil {
				t.Fatal(err)
			}
			var r proxytest.Message
			if l.Modern { // its own answer arrives too late
				r = q.Answer(map[bool]string{true: proxytest.Decline, false: proxytest.Approve}[yes])
			} else {
				r = c.Reply(q.Call)
				c.Send([]byte(`{"jsonrpc":"2.0","id":`+q.Elicit+`,"result":`+proxytest.Approve+`}`), nil)
			}
			if r.Result == nil || r.IsError() == yes {
				t.Errorf("%s", r.Raw)
			}
			c.Must("safe", `{}`)
			s.Executed("deploy", map[bool]int{true: 1, false: 0}[yes])
		})
	}
	s := proxytest.Start(t, bothChannels())
	c := s.Connect(proxytest.Legs()[0], proxytest.CanElicit)
	q := c.Asks("deploy", `{}`)
	if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, false, "ada", ""); err != nil {
		t.Fatal(err)
	}
	m := c.Await("a cancellation", func(m proxytest.Message) bool { return m.Method == "notifications/cancelled" })
	if proxytest.Member(m.Params, "requestId") != q.Elicit {
		t.Errorf("%s", m.Raw)
	}
}

// TestLateConsent: a person can answer the prompt of a call that was parked meanwhile; the call
// finds the answer when the client calls again.
func TestLateConsent(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit"}, Hold: 10 * time.Millisecond}
		}})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		if r := c.Reply(q.Call); r.Decision("decision") != "ask" {
			t.Fatalf("%s", r.Raw)
		}
		c.Send([]byte(`{"jsonrpc":"2.0","id":`+q.Elicit+`,"result":`+proxytest.Approve+`}`), nil)
		s.Eventually("the answer is taken", func() bool { return s.Proxy.Approvals()[0].State == proxy.Approved })
		s.Executed("deploy", 0)
		c.Must("deploy", `{}`)
		s.Executed("deploy", 1)
	})
}

// TestQuestionTooLong: a question that the client cannot show in full is not shown there, and
// nothing is approved unseen; an operator sees all of it.
func TestQuestionTooLong(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 40<<10) + `"}`
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		c.Must("safe", `{}`)
		c.Refuses("deploy", long, "approval")
		s = proxytest.Start(t, bothChannels())
		c = s.Connect(l, proxytest.CanElicit)
		id := c.Call("deploy", long)
		a := s.AwaitPending(1)[0]
		if !strings.Contains(s.Question(a.ID), long[10:len(long)-10]) {
			t.Error("the operator is not shown everything")
		}
		if err := s.Proxy.Resolve(a.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestEveryRuleAsks: one question names all rules that require approval, and its answer is valid
// for all of them.
func TestEveryRuleAsks(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "require human-approval before deploy\nrequire human-approval before deploy.prod\nrequire human-approval before *loy\n"})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{"action":"prod"}`)
		for _, want := range []string{"test.rules:1:1", "test.rules:2:1", "test.rules:3:1"} {
			if !strings.Contains(q.Text(), want) {
				t.Errorf("%s is not named: %s", want, q.Text())
			}
		}
		if r := q.Answer(proxytest.Approve); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
	})
}

// TestCloseWhileHeld: shutdown does not wait for people.
func TestCloseWhileHeld(t *testing.T) {
	t.Parallel()
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, bothChannels())
		c := s.Connect(l, "")
		id := c.Call("deploy", `{}`)
		s.AwaitPending(1)
		if err := s.Proxy.Close(); err != nil {
			t.Error(err)
		}
		if l.HTTP && !l.Modern { // clients with an open connection get an answer
			c.Reply(id)
		}
		c.Close()
		s.Executed("deploy", 0)
	})
}
