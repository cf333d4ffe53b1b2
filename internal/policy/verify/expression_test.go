package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestValuesOfExpressions checks that verify finds calls that give an expression a value.
func TestValuesOfExpressions(t *testing.T) {
	for _, e := range []string{
		"args.f.lowerAscii()", "args.f.split('@')[1]", "size(args.f)", "args.n / 100", "args.n > 5", "args.f + '/' + args.g",
		"args.list.map(x, x.lowerAscii())", "args.inner.f", "args.?f.orValue(args.g)",
	} {
		rules := fmt.Sprintf("limit a to 1 per session for each %q\nrequire b before a with same %[1]q\n", e)
		r := report(t, rules, func(o *verify.Options) { o.Known = true })
		for _, n := range r.Names {
			if n.Callable != verify.Possible {
				t.Errorf("%s is %v by %s: %s", n.Tool.Name, n.Callable, e, n.Why)
			}
		}
		if len(r.Names) != 2 {
			t.Errorf("%d names by %s, want a and b", len(r.Names), e)
		}
	}
}

// TestAnotherValueOfExpression checks that a value derived from a field with the tracked value does
// not count as another value.
func TestAnotherValueOfExpression(t *testing.T) {
	const expression = `"args.f.lowerAscii()"`
	of := verify.NeverBefore{Tool: gate.Tool{Name: "a"}, First: gate.Tool{Name: "b"}, Once: true}
	r := report(t, "require b before a\nlimit b to 1 per session for each "+expression+"\n", func(o *verify.Options) {
		o.Known = true
		o.Prove = []verify.Assertion{verify.ForEach{Of: of, Key: comparedBy(expression)}, verify.ForEach{Of: of, Key: comparedBy("f")}}
	})
	run := r.Proofs[0].Counterexample
	calls := make(map[string]string)
	for _, s := range run {
		if !s.Ends {
			calls[s.Tool] = s.Args
		}
	}
	if len(run.Calls()) != 2 || calls["a"] == calls["b"] {
		t.Errorf("%v, want b and a of another value", run)
	}
}

// TestExpressionOfMappedField checks that arguments constructed for an expression do not give a
// call unintended names.
func TestExpressionOfMappedField(t *testing.T) {
	r := report(t, "map a.f x as m\nlimit m to 1 per session for each \"args.f.lowerAscii()\"\nrequire a before b\n", func(o *verify.Options) {
		o.Known, o.Prove = true, []verify.Assertion{
			verify.NeverBefore{Tool: gate.Tool{Name: "b"}, First: gate.Tool{Name: "m"}},
			verify.ForEach{Of: verify.AtMost{Count: 1, Tools: gate.Tools("a")}, Key: comparedBy(`"args.f.lowerAscii()"`)},
		}
	})
	for _, p := range r.Proofs {
		if p.Result != verify.Refuted {
			t.Errorf("%+v: %v, want refuted", p.Assertion, p.Result)
		}
		for _, s := range p.Counterexample {
			if s.Tool == "a" && s.Name == "a" && strings.Contains(s.Args, "x") {
				t.Errorf("%+v: a of x is m, too: %+v", p.Assertion, s)
			}
		}
	}
}
