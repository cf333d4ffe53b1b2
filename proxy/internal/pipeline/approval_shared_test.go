package pipeline_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// TestReplayedState: B009. One consent runs one call, however often and concurrently its state is
// sent; the others get a new question.
func TestReplayedState(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		for round := range 10 {
			args := `{"n":` + strconv.Itoa(round) + `}`
			q := c.Asks("deploy", args)
			var ids []string
			for range 50 {
				ids = append(ids, q.Send(proxytest.Approve))
			}
			succeeded, asked := 0, 0
			for _, id := range ids {
				switch r := c.Reply(id); {
				case proxytest.Member(r.Result, "resultType") == `"input_required"`:
					asked++
				case r.Result != nil && !r.IsError():
					succeeded++
				default:
					t.Errorf("%s", r.Raw)
				}
			}
			if succeeded != 1 || asked != 49 {
				t.Fatalf("%d succeeded, %d asked anew", succeeded, asked)
			}
			s.Executed("deploy", round+1)
			c.AwaitQuestion("deploy", args, q.Send(proxytest.Approve)) // once more, sequentially
			s.Executed("deploy", round+1)
		}
	})
}

// TestParkedRedemptions: 50 calls come back for one answer concurrently.
func TestParkedRedemptions(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		c := s.Connect(l, "")
		id := c.Parks("deploy", `{}`)
		if err := s.Proxy.Resolve(id, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for range 50 {
			ids = append(ids, c.Call("deploy", `{}`))
		}
		succeeded := 0
		for _, id := range ids {
			r := c.Reply(id)
			waits := r.Decision("decision") == "ask" || proxytest.Member(r.Result, "resultType") == `"input_required"`
			if !waits && (r.IsError() || r.Result == nil) {
				t.Errorf("%s", r.Raw)
			}
			if !waits {
				succeeded++
			}
		}
		if succeeded != 1 {
			t.Errorf("%d succeeded", succeeded)
		}
		s.Executed("deploy", 1)
	})
}

// TestCoalesced: identical calls that wait share one question, and its answer admits one of them;
// the other asks anew.
func TestCoalesced(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		for range 20 {
			s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
			c := s.Connect(l, "")
			ids := []string{c.Call("deploy", `{}`), c.Call("deploy", `{}`), c.Call("deploy", `{}`)}
			open := map[string]bool{ids[0]: true, ids[1]: true, ids[2]: true}
			for n := 1; n <= 3; n++ {
				s.Eventually("all wait", func() bool { return len(s.Records.Decisions("allow")) == n-1 })
				question := s.AwaitPending(1)[0]
				if err := s.Proxy.Resolve(question.ID, true, "ada", ""); err != nil {
					t.Fatal(err)
				}
				r := c.Await("one reply", func(m proxytest.Message) bool { return open[m.ID] })
				delete(open, r.ID)
				if r.IsError() || r.Result == nil {
					t.Errorf("%s", r.Raw)
				}
				s.Executed("deploy", n)
			}
			c.Close()
		}
	})
}

// TestOnePrompt: identical calls of one client have one prompt at a time, and each answer admits
// one of them.
func TestOnePrompt(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		isPrompt := func(m proxytest.Message) bool { return m.Method == "elicitation/create" }
		open := map[string]bool{}
		for range 8 {
			open[c.Call("deploy", `{}`)] = true
		}
		for range 8 {
			q := c.Await("a prompt", isPrompt)
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+q.ID+`,"result":`+proxytest.Approve+`}`), nil)
			r := c.Await("a reply", func(m proxytest.Message) bool { return open[m.ID] && m.Method == "" })
			if r.IsError() || r.Result == nil {
				t.Errorf("%s", r.Raw)
			}
			delete(open, r.ID)
		}
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method != "" }); n != 0 {
			t.Errorf("%d further prompts: %s", n, c.Mail)
		}
		s.Executed("deploy", 8)
	})
}
