package verify_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestNamesOfOneTool checks that verify recognizes when rules use different names of the same tool.
func TestNamesOfOneTool(t *testing.T) {
	known := func(o *verify.Options) {
		o.Tools = []verify.Tool{{Name: "gh_push", Also: []gate.Name{{Text: "push", Certain: true}, {Text: "gh.push", Certain: true}}}, {Name: "test"}}
		o.Prove = []verify.Assertion{
			verify.NeverBefore{Tool: gate.Tool{Name: "gh.push"}, First: gate.Tool{Name: "test"}},
			verify.AtMost{Count: 2, Tools: []gate.Tool{{Name: "gh_push"}}},
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

// TestActionThatReadsLikeATool checks that a tool cannot use an action to impersonate another tool.
func TestActionThatReadsLikeATool(t *testing.T) {
	const rules = "require y.backup before delete\nblock y_backup\n"
	tools := []verify.Tool{
		{Name: "y_backup", Also: []gate.Name{{Text: "backup", Certain: true}, {Text: "y.backup", Certain: true}}},
		{Name: "x_y", Also: []gate.Name{{Text: "y", Certain: true}, {Text: "x.y", Certain: true}}},
		{Name: "delete"},
	}
	for _, c := range []struct {
		tools []verify.Tool
		want  verify.Callable
	}{{tools, verify.Impossible}, {tools[1:], verify.Possible}} {
		r := report(t, rules, func(o *verify.Options) { o.Tools = c.tools })
		for _, n := range r.Names {
			if n.Tool.Name == "delete" && n.Callable != c.want {
				t.Errorf("of %d tools: %+v", len(c.tools), n)
			}
		}
	}
}

// TestCalls checks that calls of all distinguished kinds are returned, and that omissions are
// reported.
func TestCalls(t *testing.T) {
	match := func(word string) func(string) bool {
		return func(text string) bool { return strings.Contains(text, word) }
	}
	p, err := gate.NewPolicy([]gate.Net{{
		Name: "n", Places: []string{"p"}, Labels: &gate.Labels{Maps: []gate.Map{{Tool: "sh", Field: "c", Match: match("rm"), As: "rm", Source: "rm"}}},
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("gh_push", "rm")}},
	}}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	also := []gate.Name{{Text: "push", Certain: true}}
	o := verify.Options{Tools: []verify.Tool{{Name: "gh_push", Also: also}}}
	calls, why := verify.Calls(p, o)
	tools := make(map[string]bool)
	for _, c := range calls {
		tools[c.Tool] = true
		if c.Tool == "gh_push" && (len(c.Also) != 1 || c.Also[0] != also[0]) {
			t.Errorf("%+v", c)
		}
	}
	if why != "" || !tools["gh_push"] || !tools["sh"] {
		t.Errorf("%v %q", calls, why)
	}
}

// TestSupposedByPatterns checks that a tool may be named like a label, even if two patterns match
// only that name.
func TestSupposedByPatterns(t *testing.T) {
	p, ok := policyOf("map b.f y as m\nlimit ? to 3 per session\nblock b\nblock m?*\n")
	if !ok {
		t.Fatal("the policy is not admitted")
	}
	claim := verify.Never{Tool: gate.Tool{Name: "m**", Kind: gate.Glob}}
	for known, want := range map[bool]verify.Result{false: verify.Unknown, true: verify.Proved} {
		o := verify.Options{Known: known, Prove: []verify.Assertion{claim}}
		if known {
			o.Tools = []verify.Tool{{Name: "b"}}
		}
		if proof := verify.Policy(p, o).Proofs[0]; proof.Result != want || !known && proof.Supposed != "m" {
			t.Errorf("tools known %v: %v, if there is a tool %q; want %v", known, proof.Result, proof.Supposed, want)
		}
	}
}
