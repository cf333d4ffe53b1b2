package pipeline_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestOperatorAnswersHeldCall: a held call continues when an operator approves it, and is refused
// with the reason when the operator denies it.
func TestOperatorAnswersHeldCall(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		id := c.Call("deploy", `{"n":1}`)
		question := s.AwaitPending(1)[0]
		s.Executed("deploy", 0)
		if err := s.Proxy.Resolve(question.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); r.Result == nil || r.IsError() {
			t.Fatalf("%s", r.Raw)
		}
		if err := s.Proxy.Resolve(question.ID, true, "ada", ""); err == nil {
			t.Error("an approval was answered twice")
		}
		id = c.Call("deploy", `{"n":2}`)
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, false, "ada", "not on a\u202e Friday"); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); !r.IsError() || !strings.Contains(r.Text(), `not on a\u{202e} Friday`) {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
		if allow := s.Records.Decisions("allow"); allow[0].Actor != "ada" || allow[0].Channel != "cli" {
			t.Errorf("%+v", allow)
		}
		if err := s.Proxy.Resolve("ap_NOTHING", true, "ada", ""); err == nil {
			t.Error("an approval that there is not was answered")
		}
	})
}

// TestHeldCallParksAfterTimeout: B010. A call that has waited long enough is parked; the same call
// later finds the answer, once. Any other call is another question.
func TestHeldCallParksAfterTimeout(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		before := s.State()
		id := c.Parks("deploy", `{"env":"staging","n":1}`)
		if again := c.Parks("deploy", `{"env":"staging","n":1}`); again != id {
			t.Errorf("the same call asks twice: %s and %s", id, again)
		}
		if err := s.Proxy.Resolve(id, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{`{"env":"prod","n":1}`, `{"env":"staging","n":1,"x":0}`, `{"env":"staging","n":1.0}`, `{}`} {
			if got := c.Parks("deploy", other); got == id {
				t.Errorf("%s redeemed the consent to another call", other)
			}
		}
		s.Executed("deploy", 0)
		if after := s.State(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		c.Must("deploy", `{"env":"staging","n":1}`)
		if again := c.Parks("deploy", `{"env":"staging","n":1}`); again == id {
			t.Error("a consent was used twice")
		}
		s.Executed("deploy", 1)
	})
}

// TestParkDenied: a parked call that was denied is told so, and asks no one again.
func TestParkDenied(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		c := s.Connect(l, "")
		id := c.Parks("deploy", `{}`)
		if err := s.Proxy.Resolve(id, false, "ada", "no"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r := c.Do("deploy", `{}`); !r.IsError() || r.Decision("decision") != "refuse" || !strings.Contains(r.Text(), "denied deploy: no.") {
				t.Errorf("%s", r.Raw)
			}
		}
		s.AwaitPending(0)
		c.Parks("deploy", `{"n":1}`) // another call is another question
		s.Executed("deploy", 0)
	})
}

// TestExpiry: B013. Questions, answers and requestStates expire, and setting the clock back does
// not revive them.
func TestExpiry(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		now := proxytest.NewClock()
		s := proxytest.OperatorSetup(proxytest.ParkAtOnce)
		s.Change = func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: proxytest.ParkAtOnce, Expire: time.Minute}
			o.Now = now.Now
		}
		st := proxytest.Start(t, s)
		c := st.Connect(l, "")
		approved, open := c.Parks("deploy", `{"n":1}`), c.Parks("deploy", `{"n":2}`)
		if err := st.Proxy.Resolve(approved, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		now.Move(time.Minute)
		if err := st.Proxy.Resolve(open, true, "ada", ""); err == nil {
			t.Error("an expired question was answered")
		}
		now.Move(-time.Hour)
		if again := c.Parks("deploy", `{"n":1}`); again == approved {
			t.Error("an expired consent is still there")
		}
		if again := c.Parks("deploy", `{"n":2}`); again == open {
			t.Error("an expired question is still there")
		}
		st.Executed("deploy", 0)
	})
}

// TestStateExpiry: B013 for the requestState of the modern legs.
func TestStateExpiry(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		now := proxytest.NewClock()
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Now = now.Now }})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		now.Move(15 * time.Minute)
		c.AwaitQuestion("deploy", `{}`, q.Send(proxytest.Approve))
		now.Move(-time.Hour)
		c.AwaitQuestion("deploy", `{}`, q.Send(proxytest.Approve))
		s.Executed("deploy", 0)
	})
}

// TestTamperedState: B010, B011, B014. A requestState that was altered, or belongs to another call,
// counts as missing: there is a new question and no execution.
func TestTamperedState(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "require human-approval before deploy\nrequire human-approval before delete\n"})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{"env":"staging"}`)
		state, err := strconv.Unquote(q.State)
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
			bad.State = strconv.Quote(forged)
			c.AwaitQuestion("deploy", `{"env":"staging"}`, bad.Send(proxytest.Approve))
		}
		for _, other := range [][2]string{{"deploy", `{"env":"prod"}`}, {"deploy", `{"env":"staging" }`}, {"delete", `{"env":"staging"}`}} {
			foreign := q
			foreign.Tool, foreign.Args = other[0], other[1]
			c.AwaitQuestion(foreign.Tool, foreign.Args, foreign.Send(proxytest.Approve))
		}
		s.Executed("", 0)
		if r := q.Answer(proxytest.Approve); r.IsError() || r.Result == nil { // the original state was valid all the time
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
	})
}

// TestForeignSession: B012. One session cannot redeem the approval of another.
func TestForeignSession(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	one, other := s.Connect(proxytest.Legs()[3], proxytest.CanElicit), s.Connect(proxytest.Legs()[3], proxytest.CanElicit)
	q := one.Asks("deploy", `{}`)
	q.Client = other
	other.AwaitQuestion("deploy", `{}`, q.Send(proxytest.Approve))
	web := s.Connect(proxytest.Legs()[2], proxytest.CanElicit)
	q.Client = web
	web.AwaitQuestion("deploy", `{}`, q.Send(proxytest.Approve))
	s.Executed("deploy", 0)
	elsewhere := proxytest.Start(t, proxytest.Setup{}) // another proxy has other keys
	q = web.Asks("deploy", `{"n":2}`)
	q.Client = elsewhere.Connect(proxytest.Legs()[2], proxytest.CanElicit)
	q.Client.AwaitQuestion("deploy", `{"n":2}`, q.Send(proxytest.Approve))
	elsewhere.Executed("deploy", 0)
	parked := proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
	one, other = parked.Connect(proxytest.Legs()[0], ""), parked.Connect(proxytest.Legs()[0], "")
	if err := parked.Proxy.Resolve(one.Parks("deploy", `{}`), true, "ada", ""); err != nil {
		t.Fatal(err)
	}
	other.Parks("deploy", `{}`)
	parked.Executed("deploy", 0)
}

// TestStateChanged: B006. The marking after the answer decides.
func TestStateChanged(t *testing.T) {
	rules := "require human-approval before deploy\nrequire backup before deploy\nrequire backup before delete\nlimit deploy to 1 per session\n"
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: rules, Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"cli"}, Hold: time.Hour}
		}})
		c := s.Connect(l, "")
		c.Must("backup", `{}`)
		first, second := c.Call("deploy", `{"n":1}`), c.Call("deploy", `{"n":2}`)
		for _, a := range s.AwaitPending(2) {
			if strings.Contains(string(a.Arguments), "1") {
				if err := s.Proxy.Resolve(a.ID, true, "ada", ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r := c.Reply(first); r.IsError() {
			t.Fatalf("%s", r.Raw)
		}
		before := s.State()
		late := s.AwaitPending(1)[0]
		if err := s.Proxy.Resolve(late.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		r := c.Reply(second)
		if !r.IsError() || r.Decision("kind") != "state-changed" || !strings.Contains(r.Text(), "state changed") {
			t.Errorf("%s", r.Raw)
		}
		if after := s.State(); after != before {
			t.Errorf("the state moved:\n%s\n%s", before, after)
		}
		s.Executed("deploy", 1)
		for _, a := range s.Proxy.Approvals() {
			if a.ID == late.ID && a.State != proxy.Approved {
				t.Errorf("a refusal for another reason used the approval up: it is %s", a.State)
			}
		}
	})
}

// TestTokenSpentMeanwhile: tokens are taken at the commit, not while a person thinks: tokens that
// another call takes meanwhile are gone.
func TestTokenSpentMeanwhile(t *testing.T) {
	p := proxytest.NetPolicy(t, gate.Net{
		Name: "one", Places: []string{"ready"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "asked", Inputs: []string{"ready"}, Tools: gate.Tools("deploy"), Manual: true},
			{Name: "free", Inputs: []string{"ready"}, Tools: gate.Tools("push")},
		},
	})
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: p})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		c.Must("push", `{}`)
		if r := q.Answer(proxytest.Approve); !r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 0)
		s.Executed("push", 1)
	})
}

// TestCancelWhileWaiting: a cancelled call withdraws its question, and later answers do not run it.
func TestCancelWhileWaiting(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		before := s.State()
		id := c.Call("deploy", `{}`)
		question := s.AwaitPending(1)[0]
		c.Cancel(id)
		s.AwaitPending(0)
		if err := s.Proxy.Resolve(question.ID, true, "ada", ""); err == nil {
			t.Error("a withdrawn question was answered")
		}
		c.Must("safe", `{}`)
		s.Eventually("nobody waits", func() bool { return s.State() == before })
		s.Executed("deploy", 0)
	})
}

// TestGoneWhileWaiting: the same holds for a client that disconnects.
func TestGoneWhileWaiting(t *testing.T) {
	t.Parallel()
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		c.Call("deploy", `{}`)
		question := s.AwaitPending(1)[0]
		c.Close()
		s.AwaitPending(0)
		if err := s.Proxy.Resolve(question.ID, true, "ada", ""); err == nil {
			t.Error("a withdrawn question was answered")
		}
		s.Executed("deploy", 0)
	})
}

// TestManyPending: B046. A thousand calls that wait for a person delay no other call, and their
// answers are read.
func TestManyPending(t *testing.T) {
	t.Parallel()
	const questions = 50
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		n := 1000
		if l.HTTP {
			n = 200 // each is a connection
		}
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		for i := range n {
			c.Call("deploy", fmt.Sprintf(`{"n":%d}`, i%questions))
		}
		waiting := s.AwaitPending(questions)
		c.Must("safe", `{}`)
		for range 3 {
			c.Must("push", `{}`)
		}
		for _, a := range waiting {
			if err := s.Proxy.Resolve(a.ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
		}
		s.AwaitExecuted("deploy", questions)
		c.Close()
		s.Executed("deploy", questions)
	})
}

// TestDefinitionSwapped: B008. A tool whose definition has changed since the person was asked is
// not run on that consent.
func TestDefinitionSwapped(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		s.AwaitSubscribed()
		id := c.Call("deploy", `{}`)
		question := s.AwaitPending(1)[0]
		other := testserver.Attack()[0]
		other.Name, other.Description = "deploy", "Drops the database."
		s.Upstream.AddTool(other)
		s.Eventually("the list is another", func() bool { return strings.Contains(string(c.List().Raw), "Drops") })
		if err := s.Proxy.Resolve(question.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); !r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 0)
	})
}

// TestExpiresWhileHeld: a call does not wait beyond the expiry of its question.
func TestExpiresWhileHeld(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Hour, Expire: 20 * time.Millisecond}
		}})
		for _, capabilities := range []string{"", proxytest.CanElicit} {
			if l.Modern && capabilities != "" {
				continue // is not held
			}
			c := s.Connect(l, capabilities)
			if r := c.Do("deploy", `{}`); !r.IsError() || r.Decision("decision") != "refuse" || !strings.Contains(r.Text(), "in time") {
				t.Errorf("%s", r.Raw)
			}
		}
		s.Executed("deploy", 0)
	})
}
