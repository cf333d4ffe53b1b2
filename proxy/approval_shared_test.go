package proxy_test

import (
	"strconv"
	"testing"
	"time"
)

// TestReplayedState: B009. One consent runs one call, however often and concurrently its state is
// sent; the others get a new question.
func TestReplayedState(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		for round := range 10 {
			args := `{"n":` + strconv.Itoa(round) + `}`
			q := c.asks("deploy", args)
			var ids []string
			for range 50 {
				ids = append(ids, q.send(approve))
			}
			succeeded, asked := 0, 0
			for _, id := range ids {
				switch r := c.reply(id); {
				case at(r.result, "resultType") == `"input_required"`:
					asked++
				case r.result != nil && !r.isError():
					succeeded++
				default:
					t.Errorf("%s", r.raw)
				}
			}
			if succeeded != 1 || asked != 49 {
				t.Fatalf("%d succeeded, %d asked anew", succeeded, asked)
			}
			s.executed("deploy", round+1)
			c.asked("deploy", args, q.send(approve)) // once more, sequentially
			s.executed("deploy", round+1)
		}
	})
}

// TestParkedRedemptions: 50 calls come back for one answer concurrently.
func TestParkedRedemptions(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(atOnce))
		c := s.connect(l, "")
		id := c.parked("deploy", `{}`)
		if err := s.proxy.Resolve(id, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for range 50 {
			ids = append(ids, c.call("deploy", `{}`))
		}
		succeeded := 0
		for _, id := range ids {
			r := c.reply(id)
			waits := r.decision("decision") == "ask" || at(r.result, "resultType") == `"input_required"`
			if !waits && (r.isError() || r.result == nil) {
				t.Errorf("%s", r.raw)
			}
			if !waits {
				succeeded++
			}
		}
		if succeeded != 1 {
			t.Errorf("%d succeeded", succeeded)
		}
		s.executed("deploy", 1)
	})
}

// TestCoalesced: identical calls that wait share one question, and its answer admits one of them;
// the other asks anew.
func TestCoalesced(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		for range 20 {
			s := start(t, byOperator(time.Hour))
			c := s.connect(l, "")
			ids := []string{c.call("deploy", `{}`), c.call("deploy", `{}`), c.call("deploy", `{}`)}
			open := map[string]bool{ids[0]: true, ids[1]: true, ids[2]: true}
			for n := 1; n <= 3; n++ {
				s.eventually("all wait", func() bool { return len(s.records.decisions("allow")) == n-1 })
				question := s.pending(1)[0]
				if err := s.proxy.Resolve(question.ID, true, "ada", ""); err != nil {
					t.Fatal(err)
				}
				r := c.await("one reply", func(m message) bool { return open[m.id] })
				delete(open, r.id)
				if r.isError() || r.result == nil {
					t.Errorf("%s", r.raw)
				}
				s.executed("deploy", n)
			}
			c.close()
		}
	})
}

// TestOnePrompt: identical calls of one client have one prompt at a time, and each answer admits
// one of them.
func TestOnePrompt(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, canElicit)
		isPrompt := func(m message) bool { return m.method == "elicitation/create" }
		open := map[string]bool{}
		for range 8 {
			open[c.call("deploy", `{}`)] = true
		}
		for range 8 {
			q := c.await("a prompt", isPrompt)
			c.send([]byte(`{"jsonrpc":"2.0","id":`+q.id+`,"result":`+approve+`}`), nil)
			r := c.await("a reply", func(m message) bool { return open[m.id] && m.method == "" })
			if r.isError() || r.result == nil {
				t.Errorf("%s", r.raw)
			}
			delete(open, r.id)
		}
		if n := c.mail.count(func(m message) bool { return m.method != "" }); n != 0 {
			t.Errorf("%d further prompts: %s", n, c.mail)
		}
		s.executed("deploy", 8)
	})
}
