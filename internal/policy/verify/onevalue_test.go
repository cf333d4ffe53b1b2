package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestPossibleByOneValue checks that the calls that lead to a tool have a single value. If a map
// reads the key's field, calls that it matches and calls that it does not match have different
// values.
func TestPossibleByOneValue(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  verify.Result
	}{
		// a call of a with value y is an m; it needs b with y, which needs m with y
		{"map a.f y as m\nrequire b or a before m with same f\nrequire m before b with same f", verify.Unknown},
		{"map a.f y as m\nlimit a to 1 at once for each f", verify.Proved},
		{"map a.f y as m\nrequire b before m with same f", verify.Proved},                    // of y
		{"map a.f y as m\nblock b after b until m\nblock m after c until c", verify.Refuted}, // b and c, in this order
	} {
		r := report(t, c.rules, func(o *verify.Options) {
			o.Known, o.Prove = true, []verify.Assertion{
				verify.AlwaysPossible{Tool: gate.Tool{Name: "m"}},
				verify.ForEach{Of: verify.Never{Tool: gate.Tool{Name: "b"}}, Key: []verify.Compared{{Field: gate.Field{Path: "f"}, Other: gate.Field{Path: "f"}}}},
			}
		})
		if p := r.Proofs[0]; p.Result != c.want {
			t.Errorf("%v, want %v\n%s", p.Result, c.want, c.rules)
		}
	}
}

// TestBrokenByOneValue checks that a counterexample to a claim about all values consists of calls
// with a single value.
func TestBrokenByOneValue(t *testing.T) {
	f := gate.Field{Path: "f"}
	for rules, want := range map[string]verify.Result{
		"map *.f x as m\nrequire c before b\nblock b after b until m\nblock c after c until b": verify.Refuted,
	} {
		r := report(t, rules, func(o *verify.Options) {
			o.Known, o.Prove = true, []verify.Assertion{
				verify.ForEach{Of: verify.AtMost{Count: 2, Tools: gate.Tools("c")}, Key: []verify.Compared{{Field: f, Other: f}}},
			}
		})
		p := r.Proofs[0]
		if p.Result != want {
			t.Errorf("%v, want %v\n%s", p.Result, want, rules)
		}
		of := make(map[any]int)
		for _, s := range p.Counterexample {
			if s.Tool == "c" && !s.Ends {
				of[s.Args] += max(s.Times, 1)
			}
		}
		if len(of) > 1 {
			t.Errorf("calls of several values: %v\n%s", of, rules)
		}
	}
}

// TestCrossedKeys checks that no result is shown for keys that compare different parts of the same
// value, because the model equates these parts.
func TestCrossedKeys(t *testing.T) {
	part := func(path string) verify.Compared {
		return verify.Compared{Field: gate.Field{Path: path}, Other: gate.Field{Path: path}}
	}
	before := verify.NeverBefore{Tool: gate.Tool{Name: "b"}, First: gate.Tool{Name: "a"}}
	for rules, want := range map[string]verify.Result{
		"require a before b with same f as g, g as f":                               verify.Unknown, // it is a of y and x
		"require a before b with same f, g":                                         verify.Proved,
		"require a before b with same f as g\nrequire a before b with same g as f":  verify.Unknown,
		"require a before b with same f, g\nlimit b to 1 per session for each f, g": verify.Proved,
		"block a after a\nlimit a to 1 per session for each f, g\nrequire a before b\n" +
			"require a before a with same f as g, g as f": verify.Unknown,
	} {
		r := report(t, rules, func(o *verify.Options) {
			o.Known, o.Prove = true, []verify.Assertion{verify.ForEach{Of: before, Key: []verify.Compared{part("f"), part("g")}}}
		})
		if p := r.Proofs[0]; p.Result != want {
			t.Errorf("%v, want %v\n%s", p.Result, want, rules)
		}
		for _, x := range r.Redundant {
			t.Errorf("%v is redundant\n%s", x.Net.Name, rules)
		}
	}
}
