package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy"
)

// atClock is a setup whose proxy uses a clock of the test.
func atClock(s setup) (setup, *clock) {
	now := newClock()
	change := s.change
	s.change = func(o *proxy.Options) {
		o.Now = now.Now
		if change != nil {
			change(o)
		}
	}
	return s, now
}

// TestRetry: a refusal that time undoes says when, to people and to machines, and then the call
// passes; other refusals do not.
func TestRetry(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		o, now := atClock(setup{rules: "limit push to 2 per minute\nblock danger\n"})
		s := start(t, o)
		c := s.connect(l, "")
		c.must("push", `{}`)
		c.must("push", `{}`)
		r := c.do("push", `{}`)
		if got := at(r.result, "_meta", "io.petrigate/decision", "retryAfterSeconds"); got != "30" || !strings.Contains(r.text(), "the next call is possible in 30s.") {
			t.Errorf("%s", r.raw)
		}
		if r := c.do("danger", `{}`); at(r.result, "_meta", "io.petrigate/decision", "retryAfterSeconds") != "" {
			t.Errorf("%s", r.raw)
		}
		now.move(29*time.Second + time.Millisecond)
		if r := c.do("push", `{}`); at(r.result, "_meta", "io.petrigate/decision", "retryAfterSeconds") != "1" {
			t.Errorf("%s", r.raw)
		}
		now.move(time.Second)
		c.must("push", `{}`)
	})
}

// TestClockOfOutcomes: a timed net uses the time when a call ended, and a session is shown in its
// current state.
func TestClockOfOutcomes(t *testing.T) {
	lock := gate.Net{
		Name: "lock", Places: []string{"open", "shut"}, Initial: map[string]int{"open": 1},
		Transitions: []gate.Transition{
			{Name: "shut", Inputs: []string{"open"}, Outputs: []string{"shut"}, Tools: []gate.Tool{{Name: "push"}}, Deferred: true},
			{Name: "reopen", Inputs: []string{"shut"}, Outputs: []string{"open"}, Every: time.Minute},
		},
	}
	eachLeg(t, func(t *testing.T, l leg) {
		o, now := atClock(setup{policy: netPolicy(t, lock)})
		s := start(t, o)
		c := s.connect(l, "")
		c.must("push", `{}`)
		s.eventually("the call is settled", func() bool { return s.openCalls() == 0 })
		c.blocked("push")
		now.move(time.Minute)
		if n := s.marking("lock", "open"); n != 1 {
			t.Errorf("%d tokens after a minute", n)
		}
		c.must("push", `{}`)
	})
}

// TestFewReasons: the text of a refusal is short, whatever the policy; the machine-readable form
// names every net.
func TestFewReasons(t *testing.T) {
	s := start(t, setup{rules: "require a before danger\nrequire b before danger\nrequire c before danger\nblock danger\n"})
	r := s.connect(legs()[0], "").do("danger", `{}`)
	want := "danger requires a successful call to a first. (test.rules:1:1) danger requires a successful call to b first. (test.rules:2:1) 2 more reasons are not shown."
	if r.text() != want {
		t.Errorf("got  %s\nwant %s", r.text(), want)
	}
	if n := strings.Count(at(r.result, "_meta", "io.petrigate/decision", "nets"), `"net"`); n != 4 {
		t.Errorf("%d nets: %s", n, r.raw)
	}
}
