package pipeline_test

import (
	"os"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// storm sends n calls of a tool concurrently and returns how many of them passed.
func storm(c *proxytest.Client, n int, tool string) (passed int) {
	c.T.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = c.Call(tool, `{}`)
	}
	for _, id := range ids {
		r := c.Reply(id)
		switch {
		case r.Result == nil:
			c.T.Errorf("%s", r.Raw)
		case !r.IsError():
			passed++
		}
	}
	return passed
}

// repetitions returns how often a race is tried on each leg: more often in the long form of the
// tests.
func repetitions() int {
	if os.Getenv("PETRIGATE_SOAK") != "" {
		return 100
	}
	return 10
}

// TestLimitRace: B001. Of 64 concurrent calls against a limit, exactly as many pass as the limit
// allows. The session is new each time, so that its first calls race.
func TestLimitRace(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		race(t, l, repetitions(), proxytest.Setup{Rules: "limit push to 1 per session\n"}, "push", 1)
	})
}

// TestDeferredRace: the same for a token that a call holds until its result.
func TestDeferredRace(t *testing.T) {
	p := proxytest.NetPolicy(t, gate.Net{
		Name: "pipeline", Places: []string{"built", "deployed", "watched"}, Initial: map[string]int{"built": 1},
		Transitions: []gate.Transition{
			{Name: "deploy", Inputs: []string{"built"}, Outputs: []string{"deployed"}, Tools: gate.Tools("push"), Deferred: true},
			{Name: "watch", Inputs: []string{"deployed"}, Outputs: []string{"watched"}, Tools: gate.Tools("read")},
		},
	})
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		race(t, l, repetitions(), proxytest.Setup{Policy: p}, "push", 1)
	})
}

// TestLimitOfThreeRace: B001, with the limit of the catalogue.
func TestLimitOfThreeRace(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		race(t, l, 10, proxytest.Setup{}, "push", 3) // of the default rules
	})
}

// race repeatedly runs 64 concurrent calls of a tool against a fresh proxy.
func race(t *testing.T, l proxytest.Leg, n int, s proxytest.Setup, tool string, want int) {
	t.Helper()
	if testing.Short() {
		n = min(n, 5)
	}
	for range n {
		st := proxytest.Start(t, s)
		c := st.Connect(l, "")
		if got := storm(c, 64, tool); got != want {
			t.Fatalf("%d calls passed, want %d", got, want)
		}
		if allowed := len(st.Records.Decisions("allow")); allowed != want {
			t.Fatalf("%d calls were allowed on record, want %d", allowed, want)
		}
		if refused := len(st.Records.Decisions("refuse")); refused != 64-want {
			t.Fatalf("%d refusals on record, want %d", refused, 64-want)
		}
		c.Close()
		st.Executed(tool, want)
		if t.Failed() {
			return
		}
	}
}

// TestBackupRace: one backup admits one delete, and counts from its result on (B003).
func TestBackupRace(t *testing.T) {
	rules := "require slow before delete\n"
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		for range 10 {
			s := proxytest.Start(t, proxytest.Setup{Rules: rules})
			c := s.Connect(l, "")
			backup := c.Call("slow", `{}`)
			s.AwaitExecuted("slow", 1)
			if n := storm(c, 8, "delete"); n != 0 {
				t.Fatalf("%d deletes passed before the backup has succeeded", n)
			}
			s.Upstream.Release()
			if r := c.Reply(backup); r.IsError() {
				t.Fatalf("%s", r.Raw)
			}
			if n := storm(c, 50, "delete"); n != 1 {
				t.Fatalf("%d deletes passed, want 1", n)
			}
			c.Close()
			s.Executed("delete", 1)
		}
	})
}

// TestHeldToken: a token held by a call in flight is not available to others; the refusal names the
// call.
func TestHeldToken(t *testing.T) {
	p := proxytest.NetPolicy(t, gate.Net{
		Name: "mutex", Places: []string{"free"}, Initial: map[string]int{"free": 1},
		Transitions: []gate.Transition{{Name: "use", Inputs: []string{"free"}, Outputs: []string{"free"}, Tools: gate.Tools("slow", "push"), Deferred: true}},
	})
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: p})
		c := s.Connect(l, "")
		id := c.Call("slow", `{}`)
		s.AwaitExecuted("slow", 1)
		r := c.Refuses("push", `{}`, "blocked")
		if want := "Call #1 of slow has been in flight"; !strings.Contains(r.Text(), want) {
			t.Errorf("%q lacks %q", r.Text(), want)
		}
		s.Upstream.Release()
		c.Reply(id)
		c.Must("push", `{}`)
		s.Executed("push", 1)
		if n := len(s.Log.Records(testserver.Executed)); n != 2 {
			t.Errorf("%d executions", n)
		}
	})
}
