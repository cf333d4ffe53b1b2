package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestLackingArgument checks that an argument that the tool's schema does not list makes nothing
// possible but may violate a claim.
func TestLackingArgument(t *testing.T) {
	lacks := func(tool string, f gate.Field) string {
		if tool == "backup" && f.Path == "path" || f.Path == "amout" {
			return f.Path
		}
		return ""
	}
	del, pay := gate.Tool{Name: "delete"}, gate.Tool{Name: "pay"}
	for rules, want := range map[string][]verify.Result{
		"require backup before delete with same path\n":               {verify.Unknown, verify.Proved},
		"require backup before delete with same file as path\n":       {verify.Proved, verify.Proved},
		"limit pay to 10 of amout per session\n":                      {verify.Proved, verify.Unknown},
		"limit pay to 10 of amount per session\n":                     {verify.Proved, verify.Proved},
		"limit delete to 3 per session for each amout\n":              {verify.Unknown, verify.Proved},
		"map backup.path x as b\nrequire b before delete\n":           {verify.Unknown, verify.Proved},
		"map backup.path x as b\nrequire backup before delete\n":      {verify.Proved, verify.Proved},
		"require backup before delete with same \"args.path\" as x\n": {verify.Proved, verify.Proved}, // the test cannot interpret expressions
	} {
		r := report(t, rules, func(o *verify.Options) {
			o.Known, o.Lacks = true, lacks
			o.Tools = []verify.Tool{{Name: "backup"}, {Name: "delete"}, {Name: "pay"}}
			o.Prove = []verify.Assertion{verify.Reachable{Tool: del}, verify.Reachable{Tool: pay}}
		})
		for i, p := range r.Proofs {
			if p.Result != want[i] {
				t.Errorf("%s%+v: %v %s, want %v", rules, p.Assertion, p.Result, p.Why, want[i])
			}
		}
	}
	r := report(t, "map backup.path x as b\nblock b\n", func(o *verify.Options) {
		o.Known, o.Lacks = true, lacks
		o.Tools, o.Prove = []verify.Tool{{Name: "backup"}}, []verify.Assertion{verify.Never{Tool: gate.Tool{Name: "b"}}}
	})
	if p := r.Proofs[0]; p.Result != verify.Proved {
		t.Errorf("%v %s, want proved", p.Result, p.Why)
	}
}
