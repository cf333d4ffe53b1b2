package proxy_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// byOperator is a setup in which a person at a terminal answers, and calls are parked after hold.
func byOperator(hold time.Duration) setup {
	return setup{change: func(o *proxy.Options) { o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: hold} }}
}

const atOnce = time.Nanosecond // a hold that parks every call

// parked makes a call that must be parked, and returns its approval.
func (c *client) parked(tool, args string) string {
	c.t.Helper()
	r := c.do(tool, args)
	for c.leg.modern && at(r.result, "resultType") == `"input_required"` { // another round, without a question
		r = c.reply(c.callWith(tool, args, "", `,"requestState":`+at(r.result, "requestState")))
	}
	id := r.decision("approval")
	if !r.isError() || r.decision("decision") != "ask" || id == "" || !strings.Contains(r.text(), id) {
		c.t.Fatalf("%s is not parked: %s", tool, r.raw)
	}
	return id
}

// TestOperatorAnswersHeldCall: a held call continues when an operator approves it, and is refused
// with the reason when the operator denies it.
func TestOperatorAnswersHeldCall(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		id := c.call("deploy", `{"n":1}`)
		question := s.pending(1)[0]
		s.executed("deploy", 0)
		if err := s.proxy.Resolve(question.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); r.result == nil || r.isError() {
			t.Fatalf("%s", r.raw)
		}
		if err := s.proxy.Resolve(question.ID, true, "ada", ""); err == nil {
			t.Error("an approval was answered twice")
		}
		id = c.call("deploy", `{"n":2}`)
		if err := s.proxy.Resolve(s.pending(1)[0].ID, false, "ada", "not on a\u202e Friday"); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); !r.isError() || !strings.Contains(r.text(), `not on a\u{202e} Friday`) {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
		if allow := s.records.decisions("allow"); allow[0].Actor != "ada" || allow[0].Channel != "cli" {
			t.Errorf("%+v", allow)
		}
		if err := s.proxy.Resolve("ap_NOTHING", true, "ada", ""); err == nil {
			t.Error("an approval that there is not was answered")
		}
	})
}

// TestHeldCallParksAfterTimeout: B010. A call that has waited long enough is parked; the same call
// later finds the answer, once. Any other call is another question.
func TestHeldCallParksAfterTimeout(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(atOnce))
		c := s.connect(l, "")
		c.must("safe", `{}`)
		before := s.state()
		id := c.parked("deploy", `{"env":"staging","n":1}`)
		if again := c.parked("deploy", `{"env":"staging","n":1}`); again != id {
			t.Errorf("the same call asks twice: %s and %s", id, again)
		}
		if err := s.proxy.Resolve(id, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{`{"env":"prod","n":1}`, `{"env":"staging","n":1,"x":0}`, `{"env":"staging","n":1.0}`, `{}`} {
			if got := c.parked("deploy", other); got == id {
				t.Errorf("%s redeemed the consent to another call", other)
			}
		}
		s.executed("deploy", 0)
		if after := s.state(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		c.must("deploy", `{"env":"staging","n":1}`)
		if again := c.parked("deploy", `{"env":"staging","n":1}`); again == id {
			t.Error("a consent was used twice")
		}
		s.executed("deploy", 1)
	})
}

// TestParkDenied: a parked call that was denied is told so, and asks no one again.
func TestParkDenied(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(atOnce))
		c := s.connect(l, "")
		id := c.parked("deploy", `{}`)
		if err := s.proxy.Resolve(id, false, "ada", "no"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r := c.do("deploy", `{}`); !r.isError() || r.decision("decision") != "refuse" || !strings.Contains(r.text(), "denied deploy: no.") {
				t.Errorf("%s", r.raw)
			}
		}
		s.pending(0)
		c.parked("deploy", `{"n":1}`) // another call is another question
		s.executed("deploy", 0)
	})
}

// clock is a clock that only tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// newClock returns a clock at a fixed time.
func newClock() *clock { return clockAt(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)) }

// clockAt returns a clock that shows now.
func clockAt(now time.Time) *clock { return &clock{now: now} }

// Now returns the time of the clock.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// move advances the clock.
func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestExpiry: B013. Questions, answers and requestStates expire, and setting the clock back does
// not revive them.
func TestExpiry(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		now := newClock()
		s := byOperator(atOnce)
		s.change = func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: atOnce, Expire: time.Minute}
			o.Now = now.Now
		}
		st := start(t, s)
		c := st.connect(l, "")
		approved, open := c.parked("deploy", `{"n":1}`), c.parked("deploy", `{"n":2}`)
		if err := st.proxy.Resolve(approved, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		now.move(time.Minute)
		if err := st.proxy.Resolve(open, true, "ada", ""); err == nil {
			t.Error("an expired question was answered")
		}
		now.move(-time.Hour)
		if again := c.parked("deploy", `{"n":1}`); again == approved {
			t.Error("an expired consent is still there")
		}
		if again := c.parked("deploy", `{"n":2}`); again == open {
			t.Error("an expired question is still there")
		}
		st.executed("deploy", 0)
	})
}

// TestStateExpiry: B013 for the requestState of the modern legs.
func TestStateExpiry(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		now := newClock()
		s := start(t, setup{change: func(o *proxy.Options) { o.Now = now.Now }})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		now.move(15 * time.Minute)
		c.asked("deploy", `{}`, q.send(approve))
		now.move(-time.Hour)
		c.asked("deploy", `{}`, q.send(approve))
		s.executed("deploy", 0)
	})
}

// TestTamperedState: B010, B011, B014. A requestState that was altered, or belongs to another call,
// counts as missing: there is a new question and no execution.
func TestTamperedState(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "require human-approval before deploy\nrequire human-approval before delete\n"})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{"env":"staging"}`)
		state, err := strconv.Unquote(q.state)
		if err != nil {
			t.Fatal(err)
		}
		tampered := []string{"", state[:len(state)-1], state[1:], state + "A", state + "=", " " + state, strings.ToUpper(state), strings.Repeat("A", 1<<20)}
		for i := range state {
			flipped := []byte(state)
			if flipped[i] == 'A' {
				flipped[i] = 'B'
			} else {
				flipped[i] = 'A'
			}
			tampered = append(tampered, string(flipped))
		}
		for _, forged := range tampered {
			bad := q
			bad.state = strconv.Quote(forged)
			c.asked("deploy", `{"env":"staging"}`, bad.send(approve))
		}
		for _, other := range [][2]string{{"deploy", `{"env":"prod"}`}, {"deploy", `{"env":"staging" }`}, {"delete", `{"env":"staging"}`}} {
			foreign := q
			foreign.tool, foreign.args = other[0], other[1]
			c.asked(foreign.tool, foreign.args, foreign.send(approve))
		}
		s.executed("", 0)
		if r := q.answer(approve); r.isError() || r.result == nil { // the original state was valid all the time
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
	})
}

// TestForeignSession: B012. One session cannot redeem the approval of another.
func TestForeignSession(t *testing.T) {
	s := start(t, setup{})
	one, other := s.connect(legs()[3], canElicit), s.connect(legs()[3], canElicit)
	q := one.asks("deploy", `{}`)
	q.c = other
	other.asked("deploy", `{}`, q.send(approve))
	web := s.connect(legs()[2], canElicit)
	q.c = web
	web.asked("deploy", `{}`, q.send(approve))
	s.executed("deploy", 0)
	elsewhere := start(t, setup{}) // another proxy has other keys
	q = web.asks("deploy", `{"n":2}`)
	q.c = elsewhere.connect(legs()[2], canElicit)
	q.c.asked("deploy", `{"n":2}`, q.send(approve))
	elsewhere.executed("deploy", 0)
	parked := start(t, byOperator(atOnce))
	one, other = parked.connect(legs()[0], ""), parked.connect(legs()[0], "")
	if err := parked.proxy.Resolve(one.parked("deploy", `{}`), true, "ada", ""); err != nil {
		t.Fatal(err)
	}
	other.parked("deploy", `{}`)
	parked.executed("deploy", 0)
}

// TestStateChanged: B006. The marking after the answer decides.
func TestStateChanged(t *testing.T) {
	rules := "require human-approval before deploy\nrequire backup before deploy\nrequire backup before delete\nlimit deploy to 1 per session\n"
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: rules, change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: time.Hour}
		}})
		c := s.connect(l, "")
		c.must("backup", `{}`)
		first, second := c.call("deploy", `{"n":1}`), c.call("deploy", `{"n":2}`)
		for _, a := range s.pending(2) {
			if strings.Contains(string(a.Arguments), "1") {
				if err := s.proxy.Resolve(a.ID, true, "ada", ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r := c.reply(first); r.isError() {
			t.Fatalf("%s", r.raw)
		}
		before := s.state()
		late := s.pending(1)[0]
		if err := s.proxy.Resolve(late.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		r := c.reply(second)
		if !r.isError() || r.decision("kind") != "state-changed" || !strings.Contains(r.text(), "state changed") {
			t.Errorf("%s", r.raw)
		}
		if after := s.state(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		s.executed("deploy", 1)
		for _, a := range s.proxy.Approvals() {
			if a.ID == late.ID && a.State != proxy.Approved {
				t.Errorf("a refusal for another reason used the approval up: it is %s", a.State)
			}
		}
	})
}

// TestTokenSpentMeanwhile: tokens are taken at the commit, not while a person thinks: tokens that
// another call takes meanwhile are gone.
func TestTokenSpentMeanwhile(t *testing.T) {
	p := netPolicy(t, gate.Net{
		Name: "one", Places: []string{"ready"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "asked", Inputs: []string{"ready"}, Tools: gate.Tools("deploy"), Manual: true},
			{Name: "free", Inputs: []string{"ready"}, Tools: gate.Tools("push")},
		},
	})
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: p})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		c.must("push", `{}`)
		if r := q.answer(approve); !r.isError() {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 0)
		s.executed("push", 1)
	})
}

// TestCancelWhileWaiting: a cancelled call withdraws its question, and later answers do not run it.
func TestCancelWhileWaiting(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		c.must("safe", `{}`)
		before := s.state()
		id := c.call("deploy", `{}`)
		question := s.pending(1)[0]
		c.cancel(id)
		s.pending(0)
		if err := s.proxy.Resolve(question.ID, true, "ada", ""); err == nil {
			t.Error("a withdrawn question was answered")
		}
		c.must("safe", `{}`)
		s.eventually("nobody waits", func() bool { return s.state() == before })
		s.executed("deploy", 0)
	})
}

// TestGoneWhileWaiting: the same holds for a client that disconnects.
func TestGoneWhileWaiting(t *testing.T) {
	t.Parallel()
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		c.call("deploy", `{}`)
		question := s.pending(1)[0]
		c.close()
		s.pending(0)
		if err := s.proxy.Resolve(question.ID, true, "ada", ""); err == nil {
			t.Error("a withdrawn question was answered")
		}
		s.executed("deploy", 0)
	})
}

// TestManyPending: B046. A thousand calls that wait for a person delay no other call, and their
// answers are read.
func TestManyPending(t *testing.T) {
	t.Parallel()
	const questions = 50
	eachLeg(t, func(t *testing.T, l leg) {
		n := 1000
		if l.http {
			n = 200 // each is a connection
		}
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		for i := range n {
			c.call("deploy", fmt.Sprintf(`{"n":%d}`, i%questions))
		}
		waiting := s.pending(questions)
		c.must("safe", `{}`)
		for range 3 {
			c.must("push", `{}`)
		}
		for _, a := range waiting {
			if err := s.proxy.Resolve(a.ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
		}
		s.awaitExecuted("deploy", questions)
		c.close()
		s.executed("deploy", questions)
	})
}

// TestDefinitionSwapped: B008. A tool whose definition has changed since the person was asked is
// not run on that consent.
func TestDefinitionSwapped(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		s.awaitSubscribed()
		id := c.call("deploy", `{}`)
		question := s.pending(1)[0]
		other := testserver.Attack()[0]
		other.Name, other.Description = "deploy", "Drops the database."
		s.upstream.AddTool(other)
		s.eventually("the list is another", func() bool { return strings.Contains(string(c.list().raw), "Drops") })
		if err := s.proxy.Resolve(question.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); !r.isError() {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 0)
	})
}

// TestExpiresWhileHeld: a call does not wait beyond the expiry of its question.
func TestExpiresWhileHeld(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Hour, Expire: 20 * time.Millisecond}
		}})
		for _, capabilities := range []string{"", canElicit} {
			if l.modern && capabilities != "" {
				continue // is not held
			}
			c := s.connect(l, capabilities)
			if r := c.do("deploy", `{}`); !r.isError() || r.decision("decision") != "refuse" || !strings.Contains(r.text(), "in time") {
				t.Errorf("%s", r.raw)
			}
		}
		s.executed("deploy", 0)
	})
}
