package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// atClock is a setup whose proxy uses a clock of the test.
func atClock(s proxytest.Setup) (proxytest.Setup, *proxytest.Clock) {
	now := proxytest.NewClock()
	change := s.Change
	s.Change = func(o *proxy.Options) {
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		o, now := atClock(proxytest.Setup{Rules: "limit push to 2 per minute\nblock danger\n"})
		s := proxytest.Start(t, o)
		c := s.Connect(l, "")
		c.Must("push", `{}`)
		c.Must("push", `{}`)
		r := c.Do("push", `{}`)
		if got := proxytest.Member(r.Result, "_meta", "io.petrigate/decision", "retryAfterSeconds"); got != "30" || !strings.Contains(r.Text(), "the next call is possible in 30s.") {
			t.Errorf("%s", r.Raw)
		}
		if r := c.Do("danger", `{}`); proxytest.Member(r.Result, "_meta", "io.petrigate/decision", "retryAfterSeconds") != "" {
			t.Errorf("%s", r.Raw)
		}
		now.Move(29*time.Second + time.Millisecond)
		if r := c.Do("push", `{}`); proxytest.Member(r.Result, "_meta", "io.petrigate/decision", "retryAfterSeconds") != "1" {
			t.Errorf("%s", r.Raw)
		}
		now.Move(time.Second)
		c.Must("push", `{}`)
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		o, now := atClock(proxytest.Setup{Policy: proxytest.NetPolicy(t, lock)})
		s := proxytest.Start(t, o)
		c := s.Connect(l, "")
		c.Must("push", `{}`)
		s.Eventually("the call is settled", func() bool { return s.OpenCalls() == 0 })
		c.CallBlocked("push")
		now.Move(time.Minute)
		if n := s.Marking("lock", "open"); n != 1 {
			t.Errorf("%d tokens after a minute", n)
		}
		c.Must("push", `{}`)
	})
}

// TestFewReasons: the text of a refusal is short, whatever the policy; the machine-readable form
// names every net.
func TestFewReasons(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "require a before danger\nrequire b before danger\nrequire c before danger\nblock danger\n"})
	r := s.Connect(proxytest.Legs()[0], "").Do("danger", `{}`)
	want := "danger requires a successful call to a first. (test.rules:1:1) danger requires a successful call to b first. (test.rules:2:1) 2 more reasons are not shown."
	if r.Text() != want {
		t.Errorf("got  %s\nwant %s", r.Text(), want)
	}
	if n := strings.Count(proxytest.Member(r.Result, "_meta", "io.petrigate/decision", "nets"), `"net"`); n != 4 {
		t.Errorf("%d nets: %s", n, r.Raw)
	}
}
