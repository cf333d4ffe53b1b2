package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// bothChannels asks the client and an operator.
func bothChannels() setup {
	return setup{change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Hour}
	}}
}

// TestCancelGoesOn: cancel means that no person was asked; the operator still can be.
func TestCancelGoesOn(t *testing.T) {
	for _, answer := range []string{cancel, `{}`, `{"action":"later"}`} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, bothChannels())
			c := s.connect(l, canElicit)
			id := c.asks("deploy", `{}`).send(answer)
			c.must("safe", `{}`)
			s.executed("deploy", 0)
			if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if r := c.reply(id); r.isError() || r.result == nil {
				t.Errorf("%s", r.raw)
			}
			s.executed("deploy", 1)
			if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
				t.Errorf("asked again: %s", c.mail)
			}
		})
	}
}

// TestFirstAnswerWins: all channels are open at once. The operator answers first: this answer
// counts, and the client is told that its answer is no longer needed.
func TestFirstAnswerWins(t *testing.T) {
	for _, yes := range []bool{true, false} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, bothChannels())
			c := s.connect(l, canElicit)
			q := c.asks("deploy", `{}`)
			if err := s.proxy.Resolve(s.pending(1)[0].ID, yes, "ada", ""); err != nil {
				t.Fatal(err)
			}
			var r message
			if l.modern { // its own answer arrives too late
				r = q.answer(map[bool]string{true: decline, false: approve}[yes])
			} else {
				r = c.reply(q.call)
				c.send([]byte(`{"jsonrpc":"2.0","id":`+q.elicit+`,"result":`+approve+`}`), nil)
			}
			if r.result == nil || r.isError() == yes {
				t.Errorf("%s", r.raw)
			}
			c.must("safe", `{}`)
			s.executed("deploy", map[bool]int{true: 1, false: 0}[yes])
		})
	}
	s := start(t, bothChannels())
	c := s.connect(legs()[0], canElicit)
	q := c.asks("deploy", `{}`)
	if err := s.proxy.Resolve(s.pending(1)[0].ID, false, "ada", ""); err != nil {
		t.Fatal(err)
	}
	m := c.await("a cancellation", func(m message) bool { return m.method == "notifications/cancelled" })
	if at(m.params, "requestId") != q.elicit {
		t.Errorf("%s", m.raw)
	}
}

// TestLateConsent: a person can answer the prompt of a call that was parked meanwhile; the call
// finds the answer when the client calls again.
func TestLateConsent(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit"}, Hold: 10 * time.Millisecond}
		}})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		if r := c.reply(q.call); r.decision("decision") != "ask" {
			t.Fatalf("%s", r.raw)
		}
		c.send([]byte(`{"jsonrpc":"2.0","id":`+q.elicit+`,"result":`+approve+`}`), nil)
		s.eventually("the answer is taken", func() bool { return s.proxy.Approvals()[0].State == proxy.Approved })
		s.executed("deploy", 0)
		c.must("deploy", `{}`)
		s.executed("deploy", 1)
	})
}

// TestQuestionTooLong: a question that the client cannot show in full is not shown there, and
// nothing is approved unseen; an operator sees all of it.
func TestQuestionTooLong(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 40<<10) + `"}`
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		c.must("safe", `{}`)
		c.refuses("deploy", long, "approval")
		s = start(t, bothChannels())
		c = s.connect(l, canElicit)
		id := c.call("deploy", long)
		a := s.pending(1)[0]
		if !strings.Contains(s.question(a.ID), long[10:len(long)-10]) {
			t.Error("the operator is not shown everything")
		}
		if err := s.proxy.Resolve(a.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestEveryRuleAsks: one question names all rules that require approval, and its answer is valid
// for all of them.
func TestEveryRuleAsks(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "require human-approval before deploy\nrequire human-approval before deploy.prod\nrequire human-approval before *loy\n"})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{"action":"prod"}`)
		for _, want := range []string{"test.rules:1:1", "test.rules:2:1", "test.rules:3:1"} {
			if !strings.Contains(q.text(), want) {
				t.Errorf("%s is not named: %s", want, q.text())
			}
		}
		if r := q.answer(approve); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
	})
}

// TestCloseWhileHeld: shutdown does not wait for people.
func TestCloseWhileHeld(t *testing.T) {
	t.Parallel()
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, bothChannels())
		c := s.connect(l, "")
		id := c.call("deploy", `{}`)
		s.pending(1)
		if err := s.proxy.Close(); err != nil {
			t.Error(err)
		}
		if l.http && !l.modern { // clients with an open connection get an answer
			c.reply(id)
		}
		c.close()
		s.executed("deploy", 0)
	})
}
