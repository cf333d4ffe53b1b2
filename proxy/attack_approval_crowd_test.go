package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// A crowd is a thousand calls that were told to come back for their answers: the maximum for its
// sessions and principals.
type crowd struct {
	clients []*proxytest.Client
	ids     [][]string // ids of approvals, by client
}

const (
	crowdSessions = 10
	ofSession     = 100
)

// newCrowd opens the approvals at a proxy whose clock is now. The calls are all different.
func newCrowd(s *proxytest.Site, now *proxytest.Clock) *crowd {
	s.T.Helper()
	w := &crowd{}
	for i := range crowdSessions {
		c := s.UnconnectedClient(proxytest.Legs()[1])
		c.Bearer = fmt.Sprint("token of ", i/4)
		c.Initialize()
		var ids []string
		for n := range ofSession {
			if n%50 == 0 {
				now.Move(time.Minute) // the rate of questions is limited
			}
			ids = append(ids, c.Parks("deploy", fmt.Sprintf(`{"n":%d}`, n)))
		}
		w.clients, w.ids = append(w.clients, c), append(w.ids, ids)
	}
	return w
}

// TestThousandPending: B046. While a thousand different approvals are pending, other calls of every
// leg pass, are refused, asked about and answered as usual, and each of the thousand is answered
// and runs once.
func TestThousandPending(t *testing.T) {
	soak.Bulk(t)
	t.Parallel()
	tokens := map[string]string{"me": "token of me"}
	for i := range 3 {
		tokens[fmt.Sprint(i)] = fmt.Sprint("token of ", i)
	}
	now := proxytest.NewClock()
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"elicit", "web", "cli"}, Hold: proxytest.ParkAtOnce, Expire: 24 * time.Hour}
		o.Now = now.Now
	}})
	s.ServeWith(proxy.Access{Tokens: tokens})
	w := newCrowd(s, now)
	const all = crowdSessions * ofSession
	s.AwaitPending(all)
	executed := 0
	for _, l := range proxytest.Legs() {
		c := s.UnconnectedClient(l)
		if c.Bearer = "token of me"; !l.Modern {
			c.Initialize()
		}
		c.Must("safe", `{}`)
		for range 3 {
			c.Must("read", `{}`)
		}
		c.CallBlocked("danger")
		args := fmt.Sprintf(`{"leg":%q}`, l.Name)
		id := c.Parks("deploy", args)
		if err := answer(s, id, "web", true); err != nil {
			t.Fatal(err)
		}
		c.Must("deploy", args)
		executed++
		s.Executed("deploy", executed)
	}
	s.AwaitPending(all)
	over := w.clients[0].Do("deploy", `{"n":-1}`)
	if !over.IsError() || over.Decision("kind") != "approval" || over.Decision("decision") != "refuse" {
		t.Errorf("one more than may wait: %s", over.Raw)
	}
	for i, c := range w.clients {
		for n, id := range w.ids[i] {
			yes := n%10 != 0
			if err := answer(s, id, []string{"web", "cli"}[n%2], yes); err != nil {
				t.Fatal(err)
			}
			if yes {
				c.Must("deploy", fmt.Sprintf(`{"n":%d}`, n))
				executed++
			} else if r := c.Do("deploy", fmt.Sprintf(`{"n":%d}`, n)); !r.IsError() {
				t.Errorf("a denied call passed: %s", r.Raw)
			}
		}
	}
	s.AwaitPending(0)
	s.Executed("deploy", executed)
}

// TestAnswersAmongManyPending: B046. A client with the maximum number of waiting calls can still
// answer: its answers are read on the same stream as its calls, and each admits one call.
func TestAnswersAmongManyPending(t *testing.T) {
	t.Parallel()
	const questions = 20
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		each := soak.Count(25)
		if l.HTTP {
			each = min(each, 10) // each call is a connection
		}
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit"}, Hold: time.Hour}
		}})
		c := s.Connect(l, proxytest.CanElicit)
		open := map[string]bool{}
		for n := range questions * each {
			open[c.Call("deploy", fmt.Sprintf(`{"n":%d}`, n%questions))] = true
		}
		for n := range questions * each {
			q := c.Await("a prompt", func(m proxytest.Message) bool { return m.Method == "elicitation/create" })
			c.Must("safe", `{}`)
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+q.ID+`,"result":`+proxytest.Approve+`}`), nil)
			r := c.Await("a reply", func(m proxytest.Message) bool { return m.Method == "" && open[m.ID] })
			if delete(open, r.ID); r.Result == nil || r.IsError() {
				t.Fatalf("%s", r.Raw)
			}
			s.Executed("deploy", n+1)
		}
	})
}

// TestOrderOfSuccesses: B020. A call becomes possible with the success that it requires, in
// whichever order successes come, and never more often than the rule allows.
func TestOrderOfSuccesses(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		var held [5]chan struct{}
		for i := range held {
			held[i] = make(chan struct{})
		}
		backup := testserver.Tool{Name: "backup", Run: func(ctx context.Context, c *testserver.Call) (json.RawMessage, error) {
			var n int
			_ = json.Unmarshal(c.Arg("n"), &n)
			select {
			case <-held[n]:
			case <-ctx.Done():
			}
			return testserver.Text("done"), nil
		}}
		s := proxytest.Start(t, proxytest.Setup{Rules: "require backup before delete\n", Server: testserver.Options{Tools: []testserver.Tool{backup, proxytest.PlainTool("delete")}}})
		c := s.Connect(l, "")
		var ids []string
		begin := func(n int) {
			ids = append(ids, c.Call("backup", fmt.Sprintf(`{"n":%d}`, n)))
			s.AwaitExecuted("backup", n+1)
		}
		done := func(n int) {
			close(held[n])
			if r := c.Reply(ids[n]); r.Result == nil || r.IsError() {
				t.Fatalf("%s", r.Raw)
			}
		}
		begin(0)
		begin(1)
		c.CallBlocked("delete")
		done(1) // the second is faster
		c.Must("delete", `{}`)
		c.CallBlocked("delete")
		done(0) // it began before that delete, and does not count for a later one
		c.CallBlocked("delete")
		begin(2)
		begin(3)
		begin(4)
		c.CallBlocked("delete")
		for _, n := range []int{4, 3, 2} { // one of them is enough, and more do not add up
			done(n)
		}
		c.Must("delete", `{}`)
		c.CallBlocked("delete")
		s.Executed("delete", 2)
		if n := s.OpenCalls(); n != 0 {
			t.Errorf("%d calls are open", n)
		}
	})
}
