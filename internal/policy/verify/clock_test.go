package verify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestWindows checks limits with a window. Because the clock refills them, a call is always
// possible again, and the number of calls is unlimited. The gate replays the runs that show this.
func TestWindows(t *testing.T) {
	push := gate.Tool{Name: "push"}
	r := report(t, "limit push to 2 per minute\nrequire test before push", func(o *verify.Options) {
		o.Prove = []verify.Assertion{
			verify.AtMost{Count: 2, Tools: []gate.Tool{push}}, verify.AlwaysPossible{Tool: push}, verify.NeverBefore{Tool: push, First: gate.Tool{Name: "test"}},
		}
	})
	for i, want := range []verify.Result{verify.Refuted, verify.Proved, verify.Proved} {
		if got := r.Proofs[i]; got.Result != want {
			t.Errorf("%T is %v, want %v: %s", got.Assertion, got.Result, want, got.Why)
		}
	}
	trace := r.Proofs[0].Counterexample
	waits := 0
	for _, s := range trace {
		if s.Wait > 0 {
			waits++
			if s.Name != "time passes" {
				t.Errorf("%+v", s)
			}
		}
	}
	if calls := strings.Join(trace.Calls(), " "); waits == 0 || strings.Count(calls, "push") != 3 {
		t.Errorf("%d waits, calls %s", waits, calls)
	}
	for _, g := range r.Groups {
		if g.Deadlock.Result != verify.Proved {
			t.Errorf("deadlock of %v: %v %s", g.Nets, g.Deadlock.Result, g.Deadlock.Why)
		}
	}
	if len(r.Redundant) > 0 {
		t.Errorf("redundant: %v", r.Redundant)
	}
	p, _ := build(t, map[string]string{"policy.rules": "limit push to 2 per minute\nrequire test before push"})
	s, now := p.NewState(nil), time.Unix(0, 0)
	for _, step := range trace {
		if step.Wait > 0 {
			now = now.Add(step.Wait)
			continue
		}
		if step.Ends {
			continue
		}
		now, ok := begin(p, s, gate.Call{Tool: step.Tool, Time: now})
		if !ok {
			t.Fatalf("%s is refused", step.Name)
		}
		s = settle(p, now.state, now.number, gate.Success)
	}
}

// TestShadow checks that shadow nets neither forbid calls nor prove claims.
func TestShadow(t *testing.T) {
	r := report(t, "shadow block push\nlimit push to 1 per session\nshadow limit pull to 1 per session", func(o *verify.Options) {
		o.Prove = []verify.Assertion{verify.Never{Tool: gate.Tool{Name: "push"}}, verify.AtMost{Count: 1, Tools: []gate.Tool{{Name: "pull"}}}}
	})
	if r.Proofs[0].Result != verify.Refuted || r.Proofs[1].Result != verify.Refuted {
		t.Errorf("%+v", r.Proofs)
	}
	if len(r.Names) != 1 || r.Names[0].Callable != verify.Possible || len(r.Groups) != 1 || len(r.Redundant) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestExpressions checks that conditions are treated as true, false or undecidable, without further
// knowledge.
func TestExpressions(t *testing.T) {
	rules := `map charge when "args.amount > 50000" as big-charge
require human-approval before big-charge
require big-charge before report
`
	r := report(t, rules, func(o *verify.Options) {
		o.Prove = []verify.Assertion{
			verify.NeverWithoutApproval{Tool: gate.Tool{Name: "big-charge"}},
			verify.NeverBefore{Tool: gate.Tool{Name: "report"}, First: gate.Tool{Name: "big-charge"}},
			verify.NeverWithoutApproval{Tool: gate.Tool{Name: "charge"}},
		}
	})
	for i, want := range []verify.Result{verify.Proved, verify.Proved, verify.Refuted} {
		if got := r.Proofs[i]; got.Result != want {
			t.Errorf("%+v is %v, want %v: %s", got.Assertion, got.Result, want, got.Why)
		}
	}
}
