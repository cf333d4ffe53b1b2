package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// TestScriptsOfSeveralCommands checks scripts that are evidence for a label that they do not
// certainly have, scripts that are evidence for several labels of different programs, and scripts
// that are evidence for one label and certainly have another. Calls that such a script enables must
// not be proved impossible.
func TestScriptsOfSeveralCommands(t *testing.T) {
	for _, test := range []struct{ name, rules, script string }{
		{"evidence that is not certain", `
			map a.f runs rm as m
			require m before ? once unless a.go`, "date; rm"},
		{"the same of two maps", `
			map a.f runs ls as o
			map a.f runs rm as m
			require m before ? once unless a.go`, "ls; rm"},
		{"evidence of two programs", `
			map a.f runs ls as o
			map a.f runs rm as m
			require o before c once
			require m before c once
			limit a to 1 per session`, "ls && rm"},
		{"certain beside a command that does nothing", `
			map a.f runs rm as m
			map a.f runs echo as o
			require o before c once
			block a unless m`, "rm; echo"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _ := rules.Parse("policy.rules", []byte(test.rules+"\n"))
			compiled, err := rules.Compile(f)
			if err != nil {
				t.Fatal(err)
			}
			p, err := gate.NewPolicy(compiled.Nets, gate.PolicyOptions{Labels: []*gate.Labels{compiled.Labels}, Deny: true})
			if err != nil {
				t.Fatal(err)
			}
			first, ok := begin(p, p.NewState(nil), gate.Call{Tool: "a", Args: []byte(`{"action":"go","f":"` + test.script + `"}`)})
			if !ok {
				t.Fatalf("the gate refuses %q", test.script)
			}
			if _, ok := begin(p, settle(p, first.state, first.number, gate.Success), gate.Call{Tool: "c"}); !ok {
				t.Fatalf("the gate refuses c after %q", test.script)
			}
			c := gate.Tool{Name: "c"}
			report := verify.Policy(p, verify.Options{Prove: []verify.Assertion{verify.Never{Tool: c}, verify.Reachable{Tool: c}}})
			if never, reachable := report.Proofs[0], report.Proofs[1]; never.Result != verify.Refuted || reachable.Result != verify.Proved {
				t.Fatalf("never c: %v %s, reachable c: %v %s, want refuted and proved", never.Result, never.Why, reachable.Result, reachable.Why)
			}
			for _, run := range []verify.Trace{report.Proofs[0].Counterexample, report.Proofs[1].Witness} {
				if pl := replay(p, run); pl.refused >= 0 {
					t.Errorf("step %d of %+v is refused", pl.refused, run)
				}
			}
		})
	}
}
