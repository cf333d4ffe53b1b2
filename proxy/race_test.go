package proxy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/testserver"
)

// storm sends n calls of a tool concurrently and returns how many of them passed.
func (c *client) storm(n int, tool string) (passed int) {
	c.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = c.call(tool, `{}`)
	}
	for _, id := range ids {
		r := c.reply(id)
		switch {
		case r.result == nil:
			c.t.Errorf("%s", r.raw)
		case !r.isError():
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
	eachLeg(t, func(t *testing.T, l leg) {
		race(t, l, repetitions(), setup{rules: "limit push to 1 per session\n"}, "push", 1)
	})
}

// TestDeferredRace: the same for a token that a call holds until its result.
func TestDeferredRace(t *testing.T) {
	p := netPolicy(t, gate.Net{
		Name: "pipeline", Places: []string{"built", "deployed", "watched"}, Initial: map[string]int{"built": 1},
		Transitions: []gate.Transition{
			{Name: "deploy", Inputs: []string{"built"}, Outputs: []string{"deployed"}, Tools: gate.Tools("push"), Deferred: true},
			{Name: "watch", Inputs: []string{"deployed"}, Outputs: []string{"watched"}, Tools: gate.Tools("read")},
		},
	})
	eachLeg(t, func(t *testing.T, l leg) {
		race(t, l, repetitions(), setup{policy: p}, "push", 1)
	})
}

// TestLimitOfThreeRace: B001, with the limit of the catalogue.
func TestLimitOfThreeRace(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		race(t, l, 10, setup{}, "push", 3) // of the default rules
	})
}

// race repeatedly runs 64 concurrent calls of a tool against a fresh proxy.
func race(t *testing.T, l leg, n int, s setup, tool string, want int) {
	t.Helper()
	if testing.Short() {
		n = min(n, 5)
	}
	for range n {
		st := start(t, s)
		c := st.connect(l, "")
		if got := c.storm(64, tool); got != want {
			t.Fatalf("%d calls passed, want %d", got, want)
		}
		if allowed := len(st.records.decisions("allow")); allowed != want {
			t.Fatalf("%d calls were allowed on record, want %d", allowed, want)
		}
		if refused := len(st.records.decisions("refuse")); refused != 64-want {
			t.Fatalf("%d refusals on record, want %d", refused, 64-want)
		}
		c.close()
		st.executed(tool, want)
		if t.Failed() {
			return
		}
	}
}

// TestBackupRace: one backup admits one delete, and counts from its result on (B003).
func TestBackupRace(t *testing.T) {
	rules := "require slow before delete\n"
	eachLeg(t, func(t *testing.T, l leg) {
		for range 10 {
			s := start(t, setup{rules: rules})
			c := s.connect(l, "")
			backup := c.call("slow", `{}`)
			s.awaitExecuted("slow", 1)
			if n := c.storm(8, "delete"); n != 0 {
				t.Fatalf("%d deletes passed before the backup has succeeded", n)
			}
			s.upstream.Release()
			if r := c.reply(backup); r.isError() {
				t.Fatalf("%s", r.raw)
			}
			if n := c.storm(50, "delete"); n != 1 {
				t.Fatalf("%d deletes passed, want 1", n)
			}
			c.close()
			s.executed("delete", 1)
		}
	})
}

// TestHeldToken: a token held by a call in flight is not available to others; the refusal names the
// call.
func TestHeldToken(t *testing.T) {
	p := netPolicy(t, gate.Net{
		Name: "mutex", Places: []string{"free"}, Initial: map[string]int{"free": 1},
		Transitions: []gate.Transition{{Name: "use", Inputs: []string{"free"}, Outputs: []string{"free"}, Tools: gate.Tools("slow", "push"), Deferred: true}},
	})
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: p})
		c := s.connect(l, "")
		id := c.call("slow", `{}`)
		s.awaitExecuted("slow", 1)
		r := c.refuses("push", `{}`, "blocked")
		if want := "Call #1 of slow has been in flight"; !strings.Contains(r.text(), want) {
			t.Errorf("%q lacks %q", r.text(), want)
		}
		s.upstream.Release()
		c.reply(id)
		c.must("push", `{}`)
		s.executed("push", 1)
		if n := len(s.log.Records(testserver.Executed)); n != 2 {
			t.Errorf("%d executions", n)
		}
	})
}
