package proxy_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// channels is a setup in which the client, the console and the command line can answer.
func channels(names ...string) setup {
	return setup{change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: names, Hold: time.Hour} }}
}

// answer answers an approval as a person at the console or at the command line.
func (s *site) answer(id, channel string, approve bool) error {
	return s.proxy.Answer(id, proxy.Answer{Approve: approve, Channel: channel, Person: "person at " + channel, Actor: "ada"})
}

// only returns the only pending approval.
func (s *site) only() string {
	s.t.Helper()
	return s.pending(1)[0].ID
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
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		for i, answer := range twofold {
			q := c.asks("deploy", fmt.Sprintf(`{"n":%d}`, i))
			id := s.only()
			sent := q.send(answer)
			if l.modern {
				c.await("an error", func(m message) bool { return m.err != nil && (m.id == "null" || m.id == sent) })
			}
			c.must("safe", `{}`)
			s.executed("deploy", i)
			if got := s.only(); got != id {
				t.Errorf("%s: %s waits, want %s", answer, got, id)
			}
			if r := q.answer(approve); r.result == nil || r.isError() {
				t.Fatalf("after %s: %s", answer, r.raw)
			}
			s.executed("deploy", i+1)
		}
	})
}

// TestDoubleAnswers: B009, B017. The first answer to a question counts, once, whatever follows and
// however often.
func TestDoubleAnswers(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		for n, answers := range [][]string{{approve, approve, approve}, {approve, decline, approve}, {decline, approve, approve}, {cancel, approve, approve}} {
			q := c.asks("deploy", fmt.Sprintf(`{"n":%d}`, n))
			for _, a := range answers { // sequentially: over HTTP each is a request of its own
				id := q.send(a)
				if l.modern {
					c.reply(id)
				} else if l.http {
					c.await("202", func(m message) bool { return m.status == http.StatusAccepted })
				}
			}
			if !l.modern {
				if r := c.reply(q.call); r.isError() != (answers[0] != approve) {
					t.Errorf("%v: %s", answers, r.raw)
				}
			}
			c.must("safe", `{}`)
			executed := min(n+1, 2)
			if s.executed("deploy", executed); t.Failed() {
				t.Fatalf("after %q", answers)
			}
		}
		allowed := s.records.matching(func(r record) bool { return r.Event == "decision" && r.Decision == "allow" && r.Approval != "" })
		if len(allowed) != 2 || allowed[0].Approval == allowed[1].Approval {
			t.Errorf("%+v", allowed)
		}
	})
}

// TestGuessedAnswersDoNotCount: B015, B016. A question cannot be answered by its number, by the id
// of its approval or from another session, on any leg, while it is open.
func TestGuessedAnswersDoNotCount(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, channels("elicit", "web", "cli"))
		c, other := s.connect(l, canElicit), s.connect(l, canElicit)
		q, theirs := c.asks("deploy", `{"n":1}`), other.asks("deploy", `{"n":2}`)
		waiting := s.pending(2)
		guesses := []string{q.call, `"` + q.call + `"`, `"approval"`, `"pg-1"`, `"elicitation-1"`, "0", "1", "2", `null`, `""`}
		for _, a := range waiting {
			guesses = append(guesses, `"`+a.ID+`"`, `"`+strings.TrimPrefix(a.ID, "ap_")+`"`)
		}
		if !l.modern {
			if q.elicit == theirs.elicit || len(q.elicit) < 12 {
				t.Errorf("ids that can be guessed: %s, %s", q.elicit, theirs.elicit)
			}
			id := strings.Trim(q.elicit, `"`)
			guesses = append(guesses, theirs.elicit, `"`+id[:len(id)-1]+`"`, `"`+id+`0"`, `"`+strings.ToUpper(id)+`"`)
		}
		for _, id := range guesses {
			c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+approve+`}`), nil)
			if l.http {
				c.await("a status", func(m message) bool { return m.status > http.StatusOK })
			}
		}
		var calls []string
		for _, name := range []string{waiting[0].ID, "", "approval", "deploy"} { // keys of the answers
			for _, state := range []string{``, `,"requestState":"` + waiting[0].ID + `"`, `,"requestState":"AAAA"`} {
				calls = append(calls, c.callWith("deploy", `{"n":1}`, "", `,"inputResponses":{"`+name+`":`+approve+`}`+state))
				if l.modern {
					c.reply(calls[len(calls)-1])
				}
			}
		}
		c.must("safe", `{}`)
		other.must("safe", `{}`)
		s.executed("deploy", 0)
		for _, a := range s.pending(2) {
			if err := s.answer(a.ID, "web", false); err != nil {
				t.Error(err)
			}
		}
		for _, id := range calls {
			if !l.modern {
				if r := c.reply(id); !r.isError() {
					t.Errorf("%s", r.raw)
				}
			}
		}
		s.executed("deploy", 0)
	})
}

// TestAnswerAfterItsTime: C004. A client's answer after the expiry of its question does not count,
// whatever the clock shows then, and neither does anyone else's.
func TestAnswerAfterItsTime(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		now := newClock()
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "web", "cli"}, Hold: time.Hour}
			o.Now = now.Now
		}})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		id := s.only()
		now.move(15 * time.Minute)
		for _, channel := range []string{"web", "cli"} {
			if err := s.answer(id, channel, true); err == nil {
				t.Errorf("%s answered too late", channel)
			}
		}
		now.move(-time.Hour)
		if l.modern {
			c.asked("deploy", `{}`, q.send(approve)) // asks anew
		} else if r := q.answer(approve); !r.isError() || !strings.Contains(r.text(), "no one answered in time") {
			t.Errorf("%s", r.raw)
		}
		c.must("safe", `{}`)
		s.executed("deploy", 0)
	})
}

// TestChannelOfTheRule: C003. A rule that names a channel accepts no other one, and if it is not
// the client's, the client is not even shown the question.
func TestChannelOfTheRule(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		for _, via := range []string{"web", "cli"} {
			set := channels("elicit", "web", "cli")
			set.rules = "require human-approval via " + via + " before deploy\n"
			s := start(t, set)
			c := s.connect(l, canElicit)
			id := c.callWith("deploy", `{}`, "", `,"inputResponses":{"approval":`+approve+`}`)
			question := s.only()
			for _, other := range []string{"elicit", "web", "cli", "url", "webhook", "", "WEB", via + " "} {
				if other == via {
					continue
				}
				if err := s.answer(question, other, true); err == nil {
					t.Errorf("via %s: answered via %q", via, other)
				}
			}
			s.executed("deploy", 0)
			if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" || m.id == id }); n != 0 {
				t.Errorf("via %s: %s", via, c.mail)
			}
			if err := s.answer(question, via, true); err != nil {
				t.Fatal(err)
			}
			if r := c.reply(id); r.result == nil || r.isError() {
				t.Errorf("%s", r.raw)
			}
			s.executed("deploy", 1)
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
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		for i, answer := range more {
			q := c.asks("deploy", `{}`)
			for _, word := range []string{"remember", "always", "session"} {
				if strings.Contains(at(q.params, "requestedSchema"), word) {
					t.Errorf("the form offers %s: %s", word, q.params)
				}
			}
			if r := q.answer(answer); r.result == nil || r.isError() {
				t.Errorf("%s", r.raw)
			}
			s.executed("deploy", i+1)
		}
		for i, all := range []string{"always", "all", "*", "session", "approve all"} {
			r := c.asks("deploy", `{"n":`+strconv.Itoa(i)+`}`).answer(`{"action":"accept","content":{"decision":"` + all + `"}}`)
			if !r.isError() {
				t.Errorf("%s: %s", all, r.raw)
			}
		}
		c.asks("deploy", `{}`)
		s.executed("deploy", len(more))
	})
}
