package proxy_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// channels is a setup where the client, the console and the command line can answer.
func channels(names ...string) proxytest.Setup {
	return proxytest.Setup{Change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: names, Hold: time.Hour} }}
}

// answer answers an approval as a person at the console or at the command line.
func answer(s *proxytest.Site, id, channel string, approve bool) error {
	return s.Proxy.Answer(id, proxy.Answer{Approve: approve, Channel: channel, Person: "person at " + channel, Actor: "ada"})
}

// onlyApproval returns the only pending approval.
func onlyApproval(s *proxytest.Site) string {
	s.T.Helper()
	return s.AwaitPending(1)[0].ID
}

// TestDecisionTwice: B017. A contradictory answer does not count: the message is rejected, the
// question stays open, and a proper answer counts.
func TestDecisionTwice(t *testing.T) {
	content := `"content":{"decision":"approve"}`
	twofold := []string{
		`{"action":"decline","action":"accept",` + content + `}`,
		`{"action":"accept",` + content + `,"action":"decline"}`,
		`{"action":"decline","\u0061ction":"accept",` + content + `}`,
		`{"action":"accept","content":{"decision":"deny","decision":"approve"}}`,
		`{"action":"accept","content":{"decision":"deny","d\u0065cision":"approve"}}`,
		`{"action":"accept","content":{"decision":"deny"},` + content + `}`,
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		for i, answer := range twofold {
			q := c.Asks("deploy", fmt.Sprintf(`{"n":%d}`, i))
			id := onlyApproval(s)
			sent := q.Send(answer)
			if l.Modern {
				c.Await("an error", func(m proxytest.Message) bool { return m.Error != nil && (m.ID == "null" || m.ID == sent) })
			}
			c.Must("safe", `{}`)
			s.Executed("deploy", i)
			if got := onlyApproval(s); got != id {
				t.Errorf("%s: %s waits, want %s", answer, got, id)
			}
			if r := q.Answer(proxytest.Approve); r.Result == nil || r.IsError() {
				t.Fatalf("after %s: %s", answer, r.Raw)
			}
			s.Executed("deploy", i+1)
		}
	})
}

// TestDoubleAnswers: B009, B017. The first answer to a question counts, once, whatever follows and
// however often.
func TestDoubleAnswers(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		for n, answers := range [][]string{{proxytest.Approve, proxytest.Approve, proxytest.Approve}, {proxytest.Approve, proxytest.Decline, proxytest.Approve}, {proxytest.Decline, proxytest.Approve, proxytest.Approve}, {proxytest.Cancel, proxytest.Approve, proxytest.Approve}} {
			q := c.Asks("deploy", fmt.Sprintf(`{"n":%d}`, n))
			for _, a := range answers { // sequentially: over HTTP each is a request of its own
				id := q.Send(a)
				if l.Modern {
					c.Reply(id)
				} else if l.HTTP {
					c.Await("202", func(m proxytest.Message) bool { return m.Status == http.StatusAccepted })
				}
			}
			if !l.Modern {
				if r := c.Reply(q.Call); r.IsError() != (answers[0] != proxytest.Approve) {
					t.Errorf("%v: %s", answers, r.Raw)
				}
			}
			c.Must("safe", `{}`)
			executed := min(n+1, 2)
			if s.Executed("deploy", executed); t.Failed() {
				t.Fatalf("after %q", answers)
			}
		}
		allowed := s.Records.Matching(func(r proxytest.Record) bool {
			return r.Event == "decision" && r.Decision == "allow" && r.Approval != ""
		})
		if len(allowed) != 2 || allowed[0].Approval == allowed[1].Approval {
			t.Errorf("%+v", allowed)
		}
	})
}

// TestGuessedAnswersDoNotCount: B015, B016. A question cannot be answered by its number, by the id
// of its approval or from another session, on any leg, while it is open.
func TestGuessedAnswersDoNotCount(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, channels("elicit", "web", "cli"))
		c, other := s.Connect(l, proxytest.CanElicit), s.Connect(l, proxytest.CanElicit)
		q, theirs := c.Asks("deploy", `{"n":1}`), other.Asks("deploy", `{"n":2}`)
		waiting := s.AwaitPending(2)
		guesses := []string{q.Call, `"` + q.Call + `"`, `"approval"`, `"pg-1"`, `"elicitation-1"`, "0", "1", "2", `null`, `""`}
		for _, a := range waiting {
			guesses = append(guesses, `"`+a.ID+`"`, `"`+strings.TrimPrefix(a.ID, "ap_")+`"`)
		}
		if !l.Modern {
			if q.Elicit == theirs.Elicit || len(q.Elicit) < 12 {
				t.Errorf("ids that can be guessed: %s, %s", q.Elicit, theirs.Elicit)
			}
			id := strings.Trim(q.Elicit, `"`)
			guesses = append(guesses, theirs.Elicit, `"`+id[:len(id)-1]+`"`, `"`+id+`0"`, `"`+strings.ToUpper(id)+`"`)
		}
		for _, id := range guesses {
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+proxytest.Approve+`}`), nil)
			if l.HTTP {
				c.Await("a status", func(m proxytest.Message) bool { return m.Status > http.StatusOK })
			}
		}
		var calls []string
		for _, name := range []string{waiting[0].ID, "", "approval", "deploy"} { // keys of the answers
			for _, state := range []string{``, `,"requestState":"` + waiting[0].ID + `"`, `,"requestState":"AAAA"`} {
				calls = append(calls, c.CallWith("deploy", `{"n":1}`, "", `,"inputResponses":{"`+name+`":`+proxytest.Approve+`}`+state))
				if l.Modern {
					c.Reply(calls[len(calls)-1])
				}
			}
		}
		c.Must("safe", `{}`)
		other.Must("safe", `{}`)
		s.Executed("deploy", 0)
		for _, a := range s.AwaitPending(2) {
			if err := answer(s, a.ID, "web", false); err != nil {
				t.Error(err)
			}
		}
		for _, id := range calls {
			if !l.Modern {
				if r := c.Reply(id); !r.IsError() {
					t.Errorf("%s", r.Raw)
				}
			}
		}
		s.Executed("deploy", 0)
	})
}

// TestAnswerAfterItsTime: C004. A client's answer after the expiry of its question does not count,
// whatever the clock shows then, and neither does anyone else's.
func TestAnswerAfterItsTime(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		now := proxytest.NewClock()
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "web", "cli"}, Hold: time.Hour}
			o.Now = now.Now
		}})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		id := onlyApproval(s)
		now.Move(15 * time.Minute)
		for _, channel := range []string{"web", "cli"} {
			if err := answer(s, id, channel, true); err == nil {
				t.Errorf("%s answered too late", channel)
			}
		}
		now.Move(-time.Hour)
		if l.Modern {
			c.AwaitQuestion("deploy", `{}`, q.Send(proxytest.Approve)) // asks anew
		} else if r := q.Answer(proxytest.Approve); !r.IsError() || !strings.Contains(r.Text(), "no one answered in time") {
			t.Errorf("%s", r.Raw)
		}
		c.Must("safe", `{}`)
		s.Executed("deploy", 0)
	})
}

// TestChannelOfTheRule: C003. A rule that names a channel accepts no other one, and if it is not
// the client's, the client is not even shown the question.
func TestChannelOfTheRule(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		for _, via := range []string{"web", "cli"} {
			set := channels("elicit", "web", "cli")
			set.Rules = "require human-approval via " + via + " before deploy\n"
			s := proxytest.Start(t, set)
			c := s.Connect(l, proxytest.CanElicit)
			id := c.CallWith("deploy", `{}`, "", `,"inputResponses":{"approval":`+proxytest.Approve+`}`)
			question := onlyApproval(s)
			for _, other := range []string{"elicit", "web", "cli", "url", "webhook", "", "WEB", via + " "} {
				if other == via {
					continue
				}
				if err := answer(s, question, other, true); err == nil {
					t.Errorf("via %s: answered via %q", via, other)
				}
			}
			s.Executed("deploy", 0)
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" || m.ID == id }); n != 0 {
				t.Errorf("via %s: %s", via, c.Mail)
			}
			if err := answer(s, question, via, true); err != nil {
				t.Fatal(err)
			}
			if r := c.Reply(id); r.Result == nil || r.IsError() {
				t.Errorf("%s", r.Raw)
			}
			s.Executed("deploy", 1)
		}
	})
}

// TestOneCallEach: C024. A consent is valid for one call: the same call, and a similar one, need
// another approval, and an answer is only yes or no.
func TestOneCallEach(t *testing.T) {
	more := []string{
		`{"action":"accept","content":{"decision":"approve","remember":true,"scope":"session","always":true}}`,
		`{"action":"accept","content":{"decision":"approve"},"_meta":{"io.petrigate/grant":"always"}}`,
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		for i, answer := range more {
			q := c.Asks("deploy", `{}`)
			for _, word := range []string{"remember", "always", "session"} {
				if strings.Contains(proxytest.Member(q.Params, "requestedSchema"), word) {
					t.Errorf("the form offers %s: %s", word, q.Params)
				}
			}
			if r := q.Answer(answer); r.Result == nil || r.IsError() {
				t.Errorf("%s", r.Raw)
			}
			s.Executed("deploy", i+1)
		}
		for i, all := range []string{"always", "all", "*", "session", "approve all"} {
			r := c.Asks("deploy", `{"n":`+strconv.Itoa(i)+`}`).Answer(`{"action":"accept","content":{"decision":"` + all + `"}}`)
			if !r.IsError() {
				t.Errorf("%s: %s", all, r.Raw)
			}
		}
		c.Asks("deploy", `{}`)
		s.Executed("deploy", len(more))
	})
}
