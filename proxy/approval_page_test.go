package proxy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

const (
	canOpen     = `{"elicitation":{"url":{}}}`
	canBoth     = `{"elicitation":{"form":{},"url":{}}}`
	accept      = `{"action":"accept"}`
	acceptsMore = `{"action":"accept","content":{"decision":"approve"}}`
)

// withPages asks by these channels, and has a page for each approval.
func withPages(channels ...string) setup {
	return setup{change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: channels, Hold: time.Hour, Page: func(id string) string { return "http://127.0.0.1:7780/a/" + id }}
	}}
}

// answerAt answers at the page.
func (s *site) answerAt(id string, yes bool) error {
	return s.proxy.Answer(id, proxy.Answer{Approve: yes, Channel: "url", Person: "ada", Actor: "ada"})
}

// isPage fails unless the client was sent to the page of the approval.
func (q question) isPage(id string) {
	q.c.t.Helper()
	page := `"http://127.0.0.1:7780/a/` + id + `"`
	if at(q.params, "mode") != `"url"` || at(q.params, "url") != page || at(q.params, "requestedSchema") != "" || strings.Contains(q.text(), "\n") || !strings.Contains(q.text(), id) {
		q.c.t.Errorf("%s", q.params)
	}
	if has := at(q.params, "elicitationId") != ""; has == q.c.leg.modern {
		q.c.t.Errorf("elicitationId: %s", q.params)
	}
}

// TestPage: C010. The client opens the page for its user. Its result is not an answer, whatever
// else it contains; the person's answer at the page is, once the page was offered.
func TestPage(t *testing.T) {
	for _, yes := range []bool{true, false} {
		for _, opened := range []string{accept, acceptsMore} {
			eachLeg(t, func(t *testing.T, l leg) {
				s := start(t, withPages("elicit", "url", "web"))
				c := s.connect(l, canOpen)
				q := c.asks("deploy", `{}`)
				a := s.pending(1)[0]
				q.isPage(a.ID)
				if !slices.Equal(a.Channels, []string{"web", "url"}) {
					t.Errorf("it was put to %v", a.Channels)
				}
				id := q.call
				if l.modern {
					id = q.send(opened)
				} else {
					c.respond(q.elicit, opened)
				}
				c.must("safe", `{}`)
				s.pending(1)
				s.executed("deploy", 0)
				if err := s.answerAt(a.ID, yes); err != nil {
					t.Fatal(err)
				}
				if r := c.reply(id); r.result == nil || r.isError() == yes {
					t.Errorf("%s", r.raw)
				}
				s.executed("deploy", map[bool]int{true: 1, false: 0}[yes])
				if d := s.records.decisions(map[bool]string{true: "allow", false: "refuse"}[yes]); d[len(d)-1].Channel != "url" || d[len(d)-1].Actor != "ada" {
					t.Errorf("%+v", d)
				}
				completed := func(m message) bool { return m.method == "notifications/elicitation/complete" }
				if !l.modern {
					m := c.await("the completion", completed)
					if at(m.params, "elicitationId") != at(q.params, "elicitationId") {
						t.Errorf("%s", m.raw)
					}
				} else if c.mail.count(completed) > 0 {
					t.Errorf("this revision has no completion: %s", c.mail)
				}
				if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
					t.Errorf("asked again: %s", c.mail)
				}
			})
		}
	}
}

// TestPageNotOpened: if the user declines to open the page, that is not an answer: the other
// channels stay open, and the page is closed.
func TestPageNotOpened(t *testing.T) {
	for _, answer := range []string{decline, cancel, `{}`} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, withPages("url", "cli"))
			c := s.connect(l, canOpen)
			const wantsProgress = `"progressToken":"p"`
			q := c.asked("deploy", `{}`, c.callWith("deploy", `{}`, wantsProgress, ""))
			id := q.call
			if l.modern {
				id = c.callWith("deploy", `{}`, wantsProgress, q.with(answer))
			} else {
				q.send(answer)
			}
			c.await("a sign that nobody was asked", func(m message) bool {
				return m.method == "notifications/progress" && strings.Contains(string(m.params), "to nobody")
			})
			a := s.pending(1)[0]
			if err := s.answerAt(a.ID, true); err == nil {
				t.Error("the page answers, and nobody was sent to it")
			}
			s.executed("deploy", 0)
			if err := s.proxy.Resolve(a.ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if r := c.reply(id); r.isError() || r.result == nil {
				t.Errorf("%s", r.raw)
			}
			if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
				t.Errorf("asked again: %s", c.mail)
			}
		})
	}
}

// TestPageAsOnlyChannel: if the page is the only channel, declining to open it ends the question;
// and if there is no page, or the client cannot open one, no person is asked.
func TestPageAsOnlyChannel(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, withPages("url"))
		c := s.connect(l, canOpen)
		if r := c.asks("deploy", `{}`).answer(decline); !r.isError() || r.decision("kind") != "approval" || strings.Contains(r.text(), "denied") {
			t.Errorf("%s", r.raw)
		}
		c = s.connect(l, canElicit)
		c.must("safe", `{}`)
		c.refuses("deploy", `{"n":1}`, "approval")
		nowhere := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "url"}, Page: func(string) string { return "" }}
		}})
		c = nowhere.connect(l, canOpen)
		c.must("safe", `{}`)
		c.refuses("deploy", `{}`, "approval")
		s.executed("deploy", 0)
	})
}

// TestPageAnswerNeedsOffer: an answer at the page counts only if the client was sent there.
func TestPageAnswerNeedsOffer(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, withPages("elicit", "url", "cli"))
		c := s.connect(l, canBoth)
		q := c.asks("deploy", `{}`) // a form: a client never has two prompts for one question
		a := s.pending(1)[0]
		if at(q.params, "requestedSchema") == "" || at(q.params, "url") != "" {
			t.Errorf("%s", q.params)
		}
		if err := s.answerAt(a.ID, true); err == nil {
			t.Error("a page answers that nobody was sent to")
		}
		if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
			t.Errorf("two prompts: %s", c.mail)
		}
		s.executed("deploy", 0)
		long := s.connect(l, canBoth).asks("deploy", `{"a":"`+strings.Repeat("x", 40<<10)+`"}`) // too long for a form
		waiting := s.pending(2)
		if waiting[0].Size < waiting[1].Size {
			waiting[0] = waiting[1]
		}
		long.isPage(waiting[0].ID)
	})
}

// TestPageAnsweredElsewhere: a client whose user has not opened the page is told that the page
// is no longer needed.
func TestPageAnsweredElsewhere(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, withPages("url", "cli"))
		c := s.connect(l, canOpen)
		q := c.asks("deploy", `{}`)
		if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(q.call); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
		m := c.await("a cancellation", func(m message) bool { return m.method == "notifications/cancelled" })
		if at(m.params, "requestId") != q.elicit {
			t.Errorf("%s", m.raw)
		}
	})
}

// TestPageOfParkedCall: the page stays open for a parked call, and the client is not sent there
// again.
func TestPageOfParkedCall(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) {
			withPages("url", "cli").change(o)
			o.Approval.Hold = 10 * time.Millisecond
		}})
		c := s.connect(l, canOpen)
		q := c.asks("deploy", `{}`)
		if r := c.reply(q.call); r.decision("decision") != "ask" {
			t.Fatalf("%s", r.raw)
		}
		c.respond(q.elicit, accept)
		if again, first := c.parked("deploy", `{}`), s.pending(1)[0].ID; again != first {
			t.Errorf("%s and %s", first, again)
		}
		if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
			t.Errorf("two prompts: %s", c.mail)
		}
		if err := s.answerAt(s.pending(1)[0].ID, true); err != nil {
			t.Fatal(err)
		}
		c.must("deploy", `{}`)
		s.executed("deploy", 1)
	})
}
