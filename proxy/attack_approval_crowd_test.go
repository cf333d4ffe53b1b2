package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// A crowd is a thousand calls that were told to come back for their answers: the maximum for its
// sessions and principals.
type crowd struct {
	clients []*client
	ids     [][]string // ids of approvals, by client
}

const (
	crowdSessions = 10
	ofSession     = 100
)

// newCrowd opens the approvals at a proxy whose clock is now. The calls are all different.
func newCrowd(s *site, now *clock) *crowd {
	s.t.Helper()
	w := &crowd{}
	for i := range crowdSessions {
		c := s.unconnected(legs()[1])
		c.bearer = fmt.Sprint("token of ", i/4)
		c.initialize()
		var ids []string
		for n := range ofSession {
			if n%50 == 0 {
				now.move(time.Minute) // the rate of questions is limited
			}
			ids = append(ids, c.parked("deploy", fmt.Sprintf(`{"n":%d}`, n)))
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
	now := newClock()
	s := start(t, setup{change: func(o *proxy.Options) {
		o.Approval = proxy.Approval{Channels: []string{"elicit", "web", "cli"}, Hold: atOnce, Expire: 24 * time.Hour}
		o.Now = now.Now
	}})
	s.door(proxy.Access{Tokens: tokens})
	w := newCrowd(s, now)
	const all = crowdSessions * ofSession
	s.pending(all)
	executed := 0
	for _, l := range legs() {
		c := s.unconnected(l)
		if c.bearer = "token of me"; !l.modern {
			c.initialize()
		}
		c.must("safe", `{}`)
		for range 3 {
			c.must("read", `{}`)
		}
		c.blocked("danger")
		args := fmt.Sprintf(`{"leg":%q}`, l.name)
		id := c.parked("deploy", args)
		if err := s.answer(id, "web", true); err != nil {
			t.Fatal(err)
		}
		c.must("deploy", args)
		executed++
		s.executed("deploy", executed)
	}
	s.pending(all)
	over := w.clients[0].do("deploy", `{"n":-1}`)
	if !over.isError() || over.decision("kind") != "approval" || over.decision("decision") != "refuse" {
		t.Errorf("one more than may wait: %s", over.raw)
	}
	for i, c := range w.clients {
		for n, id := range w.ids[i] {
			yes := n%10 != 0
			if err := s.answer(id, []string{"web", "cli"}[n%2], yes); err != nil {
				t.Fatal(err)
			}
			if yes {
				c.must("deploy", fmt.Sprintf(`{"n":%d}`, n))
				executed++
			} else if r := c.do("deploy", fmt.Sprintf(`{"n":%d}`, n)); !r.isError() {
				t.Errorf("a denied call passed: %s", r.raw)
			}
		}
	}
	s.pending(0)
	s.executed("deploy", executed)
}

// TestAnswersAmongManyPending: B046. A client with the maximum number of waiting calls can still
// answer: its answers are read on the same stream as its calls, and each admits one call.
func TestAnswersAmongManyPending(t *testing.T) {
	t.Parallel()
	const questions = 20
	legacyLegs(t, func(t *testing.T, l leg) {
		each := soak.Count(25)
		if l.http {
			each = min(each, 10) // each call is a connection
		}
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit"}, Hold: time.Hour}
		}})
		c := s.connect(l, canElicit)
		open := map[string]bool{}
		for n := range questions * each {
			open[c.call("deploy", fmt.Sprintf(`{"n":%d}`, n%questions))] = true
		}
		for n := range questions * each {
			q := c.await("a prompt", func(m message) bool { return m.method == "elicitation/create" })
			c.must("safe", `{}`)
			c.send([]byte(`{"jsonrpc":"2.0","id":`+q.id+`,"result":`+approve+`}`), nil)
			r := c.await("a reply", func(m message) bool { return m.method == "" && open[m.id] })
			if delete(open, r.id); r.result == nil || r.isError() {
				t.Fatalf("%s", r.raw)
			}
			s.executed("deploy", n+1)
		}
	})
}

// TestOrderOfSuccesses: B020. A call becomes possible with the success that it requires, in
// whichever order successes come, and never more often than the rule allows.
func TestOrderOfSuccesses(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
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
		s := start(t, setup{rules: "require backup before delete\n", server: testserver.Options{Tools: []testserver.Tool{backup, plainTool("delete")}}})
		c := s.connect(l, "")
		var ids []string
		begin := func(n int) {
			ids = append(ids, c.call("backup", fmt.Sprintf(`{"n":%d}`, n)))
			s.awaitExecuted("backup", n+1)
		}
		done := func(n int) {
			close(held[n])
			if r := c.reply(ids[n]); r.result == nil || r.isError() {
				t.Fatalf("%s", r.raw)
			}
		}
		begin(0)
		begin(1)
		c.blocked("delete")
		done(1) // the second is faster
		c.must("delete", `{}`)
		c.blocked("delete")
		done(0) // it began before that delete, and does not count for a later one
		c.blocked("delete")
		begin(2)
		begin(3)
		begin(4)
		c.blocked("delete")
		for _, n := range []int{4, 3, 2} { // one of them is enough, and more do not add up
			done(n)
		}
		c.must("delete", `{}`)
		c.blocked("delete")
		s.executed("delete", 2)
		if n := s.openCalls(); n != 0 {
			t.Errorf("%d calls are open", n)
		}
	})
}
