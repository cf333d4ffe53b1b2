package proxy_test

import (
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// TestDenialSticks: C020. After a denial the same call of the session is refused, however often it
// is sent: no person is asked twice, the model is told not to repeat it, and it is recorded. A
// different call is asked about.
func TestDenialSticks(t *testing.T) {
	t.Parallel()
	again := soak.Count(1000)
	for channel, set := range map[string]func() setup{"cli": func() setup { return byOperator(time.Hour) }, "elicit": func() setup { return setup{} }} {
		eachLeg(t, func(t *testing.T, l leg) {
			now := newClock()
			how := set()
			s := start(t, setup{change: func(o *proxy.Options) {
				if how.change != nil {
					how.change(o)
				}
				o.Now = now.Now
			}})
			c := s.connect(l, canElicit)
			if channel == "cli" {
				id := c.call("deploy", `{}`)
				if err := s.proxy.Resolve(s.pending(1)[0].ID, false, "ada", "not on a Friday"); err != nil {
					t.Fatal(err)
				}
				c.reply(id)
			} else {
				c.asks("deploy", `{}`).answer(`{"action":"accept","content":{"decision":"deny","reason":"not on a Friday"}}`)
			}
			records := len(s.records.decisions("refuse"))
			now.move(2 * time.Minute)
			for range again {
				if r := c.do("deploy", `{}`); !r.isError() || !strings.Contains(r.text(), "denied deploy 2m ago: not on a Friday. Do not call it again") {
					t.Fatalf("%s", r.raw)
				}
			}
			refusals := s.records.decisions("refuse")
			if len(refusals) != records+again {
				t.Errorf("%d refusals are on record", len(refusals)-records)
			}
			if r := refusals[len(refusals)-1]; r.Approval == "" || r.Channel != channel || r.Actor == "" || !strings.Contains(r.Reason, "2m ago") {
				t.Errorf("on record: %+v", r)
			}
			if n := len(s.proxy.Approvals()); n != 1 {
				t.Errorf("%d questions", n)
			}
			if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
				t.Errorf("asked again %d times", n)
			}
			now.move(8 * time.Minute) // the denial has expired
			id := c.call("deploy", `{}`)
			s.pending(1)
			if l.modern && channel == "elicit" {
				c.reply(id)
			}
			s.executed("deploy", 0)
		})
	}
}

// TestFloodOfQuestions: a client that requests more approvals than people can answer is refused,
// and another principal is not.
func TestFloodOfQuestions(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(atOnce))
		c, other := s.connect(l, ""), s.connect(legs()[0], "")
		if !l.http {
			other = s.connect(legs()[1], "")
		}
		n := 0
		for ; n < 200; n++ {
			id := c.call("deploy", fmt.Sprintf(`{"n":%d}`, n))
			if r := c.reply(id); strings.Contains(r.text(), "too often") {
				if !r.isError() || r.decision("kind") != "approval" {
					t.Errorf("%s", r.raw)
				}
				break
			}
		}
		if n < 50 || n > 100 {
			t.Errorf("%d questions in a row", n)
		}
		c.must("safe", `{}`)
		if err := s.proxy.Resolve(other.parked("deploy", `{}`), true, "ada", ""); err != nil {
			t.Error(err)
		}
		other.must("deploy", `{}`)
	})
}

// TestRefusedCallsHoldNothing: calls whose approval was refused leave little in memory.
func TestRefusedCallsHoldNothing(t *testing.T) {
	soak.Bulk(t)
	for _, l := range legs() { // sequentially: all of them share one heap
		s := start(t, setup{})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		before, large := heap(), strings.Repeat("x", 1<<20)
		for i := range soak.Count(24) {
			if r := c.do("deploy", `{"n":`+strconv.Itoa(i)+`,"a":"`+large+`"}`); r.decision("kind") != "approval" {
				t.Errorf("%s", r.raw)
			}
		}
		if after := heap(); after > before+8<<20 {
			t.Errorf("%d bytes before, %d after", before, after)
		}
	}
}

// heap returns the number of bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	for range 2 { // the second collection empties pools
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestPromptPassesOn: among equal calls one shows the question. If that call is cancelled, the
// client is asked again for the others at once.
func TestPromptPassesOn(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, bothChannels())
		c := s.connect(l, canElicit)
		first := c.asks("deploy", `{}`)
		second, third := c.call("deploy", `{}`), c.call("deploy", `{}`)
		c.must("safe", `{}`)
		c.cancel(first.call)
		q := c.asked("deploy", `{}`, second)
		if q.elicit == first.elicit || !strings.Contains(q.text(), "deploy") {
			t.Errorf("asked %s", q.text())
		}
		waiting := map[string]bool{second: true, third: true}
		for range 2 {
			c.send([]byte(`{"jsonrpc":"2.0","id":`+q.elicit+`,"result":`+approve+`}`), nil)
			r := c.await("a reply", func(m message) bool { return waiting[m.id] && m.method == "" })
			if r.isError() || r.result == nil {
				t.Errorf("%s", r.raw)
			}
			if delete(waiting, r.id); len(waiting) == 1 {
				q = c.asked("deploy", `{}`, "")
			}
		}
		s.executed("deploy", 2)
	})
}

// TestCancelIsTold: a client that shows the question to no one is told at once that another channel
// stays open.
func TestCancelIsTold(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, bothChannels())
		c := s.connect(l, canElicit)
		q := c.asked("deploy", `{}`, c.callWith("deploy", `{}`, `"progressToken":"p"`, ""))
		id := q.call
		if l.modern {
			id = c.callWith("deploy", `{}`, `"progressToken":"p"`, q.with(cancel))
		} else {
			q.send(cancel)
		}
		m := c.await("news", func(m message) bool { return m.method == "notifications/progress" })
		if !strings.Contains(string(m.params), "operator") || at(m.params, "progressToken") != `"p"` {
			t.Errorf("%s", m.raw)
		}
		if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestOperatorsAreTold: when a call begins to wait, the log says once which call and how to answer,
// and later who has answered where. The model's text contains nothing that would approve the call.
func TestOperatorsAreTold(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		out := &syncBuffer{}
		s := byOperator(atOnce)
		change := s.change
		s.change = func(o *proxy.Options) {
			change(o)
			o.Logger = slog.New(slog.NewTextHandler(out, nil))
		}
		st := start(t, s)
		c := st.connect(l, "")
		id := c.parked("deploy", `{}`)
		c.parked("deploy", `{}`)
		r := c.do("deploy", `{}`)
		for l.modern && at(r.result, "resultType") == `"input_required"` {
			r = c.reply(c.callWith("deploy", `{}`, "", `,"requestState":`+at(r.result, "requestState")))
		}
		want := "A person has been asked (approval " + id + ") and has not answered yet. Call the same tool again with the same arguments later."
		if r.text() != want {
			t.Errorf("the model reads %q, want %q", r.text(), want)
		}
		if n := strings.Count(out.String(), "approval "+id+" wanted: deploy on up, by "+st.proxy.Approvals()[0].Principal+" (client tester); answer: petrigate approvals\""); n != 1 {
			t.Errorf("said %d times:\n%s", n, out.String())
		}
		if err := st.proxy.Resolve(id, true, "ada\u202e", "fine"); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "approval "+id+` approved: deploy on up, by ada\\u{202e} via cli" reason=fine`); n != 1 {
			t.Errorf("said %d times:\n%s", n, out.String())
		}
		c.must("deploy", `{}`)
	})
}
