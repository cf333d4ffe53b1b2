package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// TestContinuationKeepsTextOfMap checks that, if a map reads the key's field, a continuation uses
// only values that the map treats alike.
func TestContinuationKeepsTextOfMap(t *testing.T) {
	for _, src := range []string{
		"map *.f y as m\nrequire b before m with same f\n", // a call of b with y is itself an m
		"map a.f y as m\nrequire a before m with same f\n",
		"map a.f y as m\nmap b.f y as n\nrequire b before m with same f\nlimit n to 1 per session\n",
	} {
		r := report(t, src, func(o *verify.Options) {
			o.Known, o.Prove = true, []verify.Assertion{verify.AlwaysPossible{Tool: gate.Tool{Name: "m"}}}
		})
		if got := r.Proofs[0]; got.Result == verify.Proved {
			t.Errorf("%sm is proved to be always possible", src)
		}
	}
}

// TestSpoiledForAll checks that a spoiling call without a value affects all values, even if the key
// reads its result.
func TestSpoiledForAll(t *testing.T) {
	f, _ := rules.Parse("policy.rules", []byte("limit b to 1 per session\n"))
	compiled, err := rules.Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	key := []gate.Field{{Path: "f"}}
	taint := gate.Net{Name: "taint", Places: []string{"p", "q"}, Initial: map[string]int{"p": 1}, Transitions: []gate.Transition{
		{Name: "taint", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: gate.Tools("b"), Observe: true, Spoils: true, Key: key},
		{Name: "clear", Inputs: []string{"q"}, Outputs: []string{"p"}, Tools: gate.Tools("b"), Observe: true, Deferred: true, Key: []gate.Field{{Path: "$.r", Result: true}}},
		{Name: "clean", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("a"), Key: key},
	}}
	p, err := gate.NewPolicy(append(compiled.Nets, taint), gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Policy(p, verify.Options{Known: true, Prove: []verify.Assertion{verify.AlwaysPossible{Tool: gate.Tool{Name: "a"}}, verify.DeadlockFree{Net: "taint"}}})
	for _, proof := range r.Proofs {
		if proof.Result == verify.Proved {
			t.Errorf("%T is proved, but not after b without a value", proof.Assertion)
		}
	}
}
