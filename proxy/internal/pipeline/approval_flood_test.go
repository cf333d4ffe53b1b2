package pipeline_test

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// TestDenialSticks: C020. After a denial the same call of the session is refused, however often it
// is sent: no person is asked twice, the model is told not to repeat it, and it is recorded. A
// different call is asked about.
func TestDenialSticks(t *testing.T) {
	t.Parallel()
	again := soak.Count(1000)
	for channel, set := range map[string]func() proxytest.Setup{"cli": func() proxytest.Setup { return proxytest.OperatorSetup(time.Hour) }, "elicit": func() proxytest.Setup { return proxytest.Setup{} }} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			now := proxytest.NewClock()
			how := set()
			s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
				if how.Change != nil {
					how.Change(o)
				}
				o.Now = now.Now
			}})
			c := s.Connect(l, proxytest.CanElicit)
			if channel == "cli" {
				id := c.Call("deploy", `{}`)
				if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, false, "ada", "not on a Friday"); err != nil {
					t.Fatal(err)
				}
				c.Reply(id)
			} else {
				c.Asks("deploy", `{}`).Answer(`{"action":"accept","content":{"decision":"deny","reason":"not on a Friday"}}`)
			}
			records := len(s.Records.Decisions("refuse"))
			now.Move(2 * time.Minute)
			for range again {
				if r := c.Do("deploy", `{}`); !r.IsError() || !strings.Contains(r.Text(), "denied deploy 2m ago: not on a Friday. Do not call it again") {
					t.Fatalf("%s", r.Raw)
				}
			}
			refusals := s.Records.Decisions("refuse")
			if len(refusals) != records+again {
				t.Errorf("%d refusals are on record", len(refusals)-records)
			}
			if r := refusals[len(refusals)-1]; r.Approval == "" || r.Channel != channel || r.Actor == "" || !strings.Contains(r.Reason, "2m ago") {
				t.Errorf("on record: %+v", r)
			}
			if n := len(s.Proxy.Approvals()); n != 1 {
				t.Errorf("%d questions", n)
			}
			if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
				t.Errorf("asked again %d times", n)
			}
			now.Move(8 * time.Minute) // the denial has expired
			id := c.Call("deploy", `{}`)
			s.AwaitPending(1)
			if l.Modern && channel == "elicit" {
				c.Reply(id)
			}
			s.Executed("deploy", 0)
		})
	}
}

// TestFloodOfQuestions: a client that requests more approvals than people can answer is refused,
// and another principal is not.
func TestFloodOfQuestions(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		c, other := s.Connect(l, ""), s.Connect(proxytest.Legs()[0], "")
		if !l.HTTP {
			other = s.Connect(proxytest.Legs()[1], "")
		}
		n := 0
		for ; n < 200; n++ {
			id := c.Call("deploy", fmt.Sprintf(`{"n":%d}`, n))
			if r := c.Reply(id); strings.Contains(r.Text(), "too many approvals were requested") {
				if !r.IsError() || r.Decision("kind") != "approval" {
					t.Errorf("%s", r.Raw)
				}
				break
			}
		}
		if n < 50 || n > 100 {
			t.Errorf("%d questions in a row", n)
		}
		c.Must("safe", `{}`)
		if err := s.Proxy.Resolve(other.Parks("deploy", `{}`), true, "ada", ""); err != nil {
			t.Error(err)
		}
		other.Must("deploy", `{}`)
	})
}

// TestRefusedCallsHoldNothing: calls whose approval was refused leave little in memory.
func TestRefusedCallsHoldNothing(t *testing.T) {
	soak.Bulk(t)
	for _, l := range proxytest.Legs() { // sequentially: all of them share one heap
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		before, large := proxytest.HeapInUse(), strings.Repeat("x", 1<<20)
		for i := range soak.Count(24) {
			if r := c.Do("deploy", `{"n":`+strconv.Itoa(i)+`,"a":"`+large+`"}`); r.Decision("kind") != "approval" {
				t.Errorf("%s", r.Raw)
			}
		}
		if after := proxytest.HeapInUse(); after > before+8<<20 {
			t.Errorf("%d bytes before, %d after", before, after)
		}
	}
}

// TestPromptPassesOn: among equal calls one shows the question. If that call is cancelled, the
// client is asked again for the others at once.
func TestPromptPassesOn(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, bothChannels())
		c := s.Connect(l, proxytest.CanElicit)
		first := c.Asks("deploy", `{}`)
		second, third := c.Call("deploy", `{}`), c.Call("deploy", `{}`)
		c.Must("safe", `{}`)
		c.Cancel(first.Call)
		q := c.AwaitQuestion("deploy", `{}`, second)
		if q.Elicit == first.Elicit || !strings.Contains(q.Text(), "deploy") {
			t.Errorf("asked %s", q.Text())
		}
		waiting := map[string]bool{second: true, third: true}
		for range 2 {
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+q.Elicit+`,"result":`+proxytest.Approve+`}`), nil)
			r := c.Await("a reply", func(m proxytest.Message) bool { return waiting[m.ID] && m.Method == "" })
			if r.IsError() || r.Result == nil {
				t.Errorf("%s", r.Raw)
			}
			if delete(waiting, r.ID); len(waiting) == 1 {
				q = c.AwaitQuestion("deploy", `{}`, "")
			}
		}
		s.Executed("deploy", 2)
	})
}

// TestCancelIsTold: a client that shows the question to no one is told at once that another channel
// stays open.
func TestCancelIsTold(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, bothChannels())
		c := s.Connect(l, proxytest.CanElicit)
		q := c.AwaitQuestion("deploy", `{}`, c.CallWith("deploy", `{}`, `"progressToken":"p"`, ""))
		id := q.Call
		if l.Modern {
			id = c.CallWith("deploy", `{}`, `"progressToken":"p"`, q.ReplyParams(proxytest.Cancel))
		} else {
			q.Send(proxytest.Cancel)
		}
		m := c.Await("news", func(m proxytest.Message) bool { return m.Method == "notifications/progress" })
		if !strings.Contains(string(m.Params), "operator") || proxytest.Member(m.Params, "progressToken") != `"p"` {
			t.Errorf("%s", m.Raw)
		}
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestOperatorsAreTold: when a call begins to wait, the log says once which call and how to answer,
// and later who has answered where. The model's text contains nothing that would approve the call.
func TestOperatorsAreTold(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		out := &proxytest.SyncBuffer{}
		s := proxytest.OperatorSetup(proxytest.ParkAtOnce)
		change := s.Change
		s.Change = func(o *proxy.Options) {
			change(o)
			o.Logger = slog.New(slog.NewTextHandler(out, nil))
		}
		st := proxytest.Start(t, s)
		c := st.Connect(l, "")
		id := c.Parks("deploy", `{}`)
		c.Parks("deploy", `{}`)
		r := c.Do("deploy", `{}`)
		for l.Modern && proxytest.Member(r.Result, "resultType") == `"input_required"` {
			r = c.Reply(c.CallWith("deploy", `{}`, "", `,"requestState":`+proxytest.Member(r.Result, "requestState")))
		}
		want := "A person has been asked (approval " + id + ") and has not answered yet. Call the same tool again with the same arguments later."
		if r.Text() != want {
			t.Errorf("the model reads %q, want %q", r.Text(), want)
		}
		if n := strings.Count(out.String(), "approval "+id+" requested: deploy on up, by "+st.Proxy.Approvals()[0].Principal+" (client tester); answer: petrigate approvals\""); n != 1 {
			t.Errorf("said %d times:\n%s", n, out.String())
		}
		if err := st.Proxy.Resolve(id, true, "ada\u202e", "fine"); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "approval "+id+` approved: deploy on up, by ada\\u{202e} via cli" reason=fine`); n != 1 {
			t.Errorf("said %d times:\n%s", n, out.String())
		}
		c.Must("deploy", `{}`)
	})
}
