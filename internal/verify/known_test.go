package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/verify"
)

// TestNamesOfOneTool checks that rules which speak of one tool by different
// names are taken for what they are.
func TestNamesOfOneTool(t *testing.T) {
	known := func(o *verify.Options) {
		o.Tools = []verify.Tool{{Name: "gh_push", Also: []gate.Name{{Text: "push", Certain: true}, {Text: "gh.push", Certain: true}}}, {Name: "test"}}
		o.Prove = []verify.Assertion{
			verify.NeverBefore{Tool: gate.Tool{Name: "gh.push"}, First: gate.Tool{Name: "test"}},
			verify.AtMost{Count: 2, Tool: gate.Tool{Name: "gh_push"}},
			verify.Never{Tool: gate.Tool{Name: "chat.*", Kind: gate.Glob}},
		}
	}
	r := report(t, "require test before push\nlimit gh.push to 2 per session\nrequire never before chat.*\n", known)
	for i, want := range []verify.Result{verify.Proved, verify.Proved, verify.Refuted} {
		if r.Proofs[i].Result != want {
			t.Errorf("%+v, want %v", r.Proofs[i], want)
		}
	}
	for _, n := range r.Names {
		if n.Tool.Name == "push" && (len(n.Shortest) != 3 || n.Shortest[2].Tool != "gh_push") {
			t.Errorf("%+v", n)
		}
	}
}
