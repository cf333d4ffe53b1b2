package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

const (
	canOpen     = `{"elicitation":{"url":{}}}`
	canBoth     = `{"elicitation":{"form":{},"url":{}}}`
	accept      = `{"action":"accept"}`
	acceptsMore = `{"action":"accept","content":{"decision":"approve"}}`
)

// withPages asks by these channels, and has a page for each approval.
func withPages(channels ...string) proxytest.Setup {
	return proxytest.Setup{Change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: channels, Hold: time.Hour, Page: func(id string) string { return "http://127.0.0.1:7780/a/" + id }}
	}}
}

// answerAt answers at the page.
func answerAt(s *proxytest.Site, id string, yes bool) error {
	return s.Proxy.Answer(id, proxy.Answer{Approve: yes, Channel: "url", Person: "ada", Actor: "ada"})
}

// isPage fails unless the client was sent to the page of the approval.
func isPage(q proxytest.Question, id string) {
	q.Client.T.Helper()
	page := `"http://127.0.0.1:7780/a/` + id + `"`
	if proxytest.Member(q.Params, "mode") != `"url"` || proxytest.Member(q.Params, "url") != page || proxytest.Member(q.Params, "requestedSchema") != "" || strings.Contains(q.Text(), "\n") || !strings.Contains(q.Text(), id) {
		q.Client.T.Errorf("%s", q.Params)
	}
	if has := proxytest.Member(q.Params, "elicitationId") != ""; has == q.Client.Leg.Modern {
		q.Client.T.Errorf("elicitationId: %s", q.Params)
	}
}

// TestPage: C010. The client opens the page for its user. Its result is not an answer, whatever
// else it contains; the person's answer at the page is, once the page was offered.
func TestPage(t *testing.T) {
	for _, yes := range []bool{true, false} {
		for _, opened := range []string{accept, acceptsMore} {
			proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
				s := proxytest.Start(t, withPages("elicit", "url", "web"))
				c := s.Connect(l, canOpen)
				q := c.Asks("deploy", `{}`)
				a := s.AwaitPending(1)[0]
				isPage(q, a.ID)
				if !slices.Equal(a.Channels, []string{"web", "url"}) {
					t.Errorf("it was put to %v", a.Channels)
				}
				id := q.Call
				if l.Modern {
					id = q.Send(opened)
				} else {
					c.Respond(q.Elicit, opened)
				}
				c.Must("safe", `{}`)
				s.AwaitPending(1)
				s.Executed("deploy", 0)
				if err := answerAt(s, a.ID, yes); err != nil {
					t.Fatal(err)
				}
				if r := c.Reply(id); r.Result == nil || r.IsError() == yes {
					t.Errorf("%s", r.Raw)
				}
				s.Executed("deploy", map[bool]int{true: 1, false: 0}[yes])
				if d := s.Records.Decisions(map[bool]string{true: "allow", false: "refuse"}[yes]); d[len(d)-1].Channel != "url" || d[len(d)-1].Actor != "ada" {
					t.Errorf("%+v", d)
				}
				completed := func(m proxytest.Message) bool { return m.Method == "notifications/elicitation/complete" }
				if !l.Modern {
					m := c.Await("the completion", completed)
					if proxytest.Member(m.Params, "elicitationId") != proxytest.Member(q.Params, "elicitationId") {
						t.Errorf("%s", m.Raw)
					}
				} else if c.Mail.Count(completed) > 0 {
					t.Errorf("this revision has no completion: %s", c.Mail)
				}
				if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
					t.Errorf("asked again: %s", c.Mail)
				}
			})
		}
	}
}

// TestPageNotOpened: if the user declines to open the page, that is not an answer: the other
// channels stay open, and the page is closed.
func TestPageNotOpened(t *testing.T) {
	for _, answer := range []string{proxytest.Decline, proxytest.Cancel, `{}`} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, withPages("url", "cli"))
			c := s.Connect(l, canOpen)
			const wantsProgress = `"progressToken":"p"`
			q := c.AwaitQuestion("deploy", `{}`, c.CallWith("deploy", `{}`, wantsProgress, ""))
			id := q.Call
			if l.Modern {
				id = c.CallWith("deploy", `{}`, wantsProgress, q.ReplyParams(answer))
			} else {
				q.Send(answer)
			}
			c.Await("a sign that nobody was asked", func(m proxytest.Message) bool {
				return m.Method == "notifications/progress" && strings.Contains(string(m.Params), "did not show")
			})
			a := s.AwaitPending(1)[0]
			if err := answerAt(s, a.ID, true); err == nil {
				t.Error("the page answers, and nobody was sent to it")
			}
			s.Executed("deploy", 0)
			if err := s.Proxy.Resolve(a.ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if r := c.Reply(id); r.IsError() || r.Result == nil {
				t.Errorf("%s", r.Raw)
			}
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
				t.Errorf("asked again: %s", c.Mail)
			}
		})
	}
}

// TestPageAsOnlyChannel: if the page is the only channel, declining to open it ends the question.
// Without a page, or if the client cannot open one, no person is asked.
func TestPageAsOnlyChannel(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, withPages("url"))
		c := s.Connect(l, canOpen)
		if r := c.Asks("deploy", `{}`).Answer(proxytest.Decline); !r.IsError() || r.Decision("kind") != "approval" || strings.Contains(r.Text(), "denied") {
			t.Errorf("%s", r.Raw)
		}
		c = s.Connect(l, proxytest.CanElicit)
		c.Must("safe", `{}`)
		c.Refuses("deploy", `{"n":1}`, "approval")
		nowhere := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "url"}, Page: func(string) string { return "" }}
		}})
		c = nowhere.Connect(l, canOpen)
		c.Must("safe", `{}`)
		c.Refuses("deploy", `{}`, "approval")
		s.Executed("deploy", 0)
	})
}

// TestPageAnswerNeedsOffer: an answer at the page counts only if the client was sent there.
func TestPageAnswerNeedsOffer(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, withPages("elicit", "url", "cli"))
		c := s.Connect(l, canBoth)
		q := c.Asks("deploy", `{}`) // a form: a client never has two prompts for one question
		a := s.AwaitPending(1)[0]
		if proxytest.Member(q.Params, "requestedSchema") == "" || proxytest.Member(q.Params, "url") != "" {
			t.Errorf("%s", q.Params)
		}
		if err := answerAt(s, a.ID, true); err == nil {
			t.Error("a page answers that nobody was sent to")
		}
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
			t.Errorf("two prompts: %s", c.Mail)
		}
		s.Executed("deploy", 0)
		long := s.Connect(l, canBoth).Asks("deploy", `{"a":"`+strings.Repeat("x", 40<<10)+`"}`) // too long for a form
		waiting := s.AwaitPending(2)
		if waiting[0].Size < waiting[1].Size {
			waiting[0] = waiting[1]
		}
		isPage(long, waiting[0].ID)
	})
}

// TestPageAnsweredElsewhere: a client whose user has not opened the page is told that the page is
// not needed any more.
func TestPageAnsweredElsewhere(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, withPages("url", "cli"))
		c := s.Connect(l, canOpen)
		q := c.Asks("deploy", `{}`)
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(q.Call); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		m := c.Await("a cancellation", func(m proxytest.Message) bool { return m.Method == "notifications/cancelled" })
		if proxytest.Member(m.Params, "requestId") != q.Elicit {
			t.Errorf("%s", m.Raw)
		}
	})
}

// TestPageOfParkedCall: the page stays open for a parked call, and the client is not sent there
// again.
func TestPageOfParkedCall(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			withPages("url", "cli").Change(o)
			o.Approval.Hold = 10 * time.Millisecond
		}})
		c := s.Connect(l, canOpen)
		q := c.Asks("deploy", `{}`)
		if r := c.Reply(q.Call); r.Decision("decision") != "ask" {
			t.Fatalf("%s", r.Raw)
		}
		c.Respond(q.Elicit, accept)
		if again, first := c.Parks("deploy", `{}`), s.AwaitPending(1)[0].ID; again != first {
			t.Errorf("%s and %s", first, again)
		}
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
			t.Errorf("two prompts: %s", c.Mail)
		}
		if err := answerAt(s, s.AwaitPending(1)[0].ID, true); err != nil {
			t.Fatal(err)
		}
		c.Must("deploy", `{}`)
		s.Executed("deploy", 1)
	})
}
