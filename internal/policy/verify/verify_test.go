package verify_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // with the default of 100, garbage collection takes a third of the time
	m.Run()
}

func report(t *testing.T, rules string, change func(*verify.Options)) *verify.Report {
	t.Helper()
	p, o := build(t, map[string]string{"policy.rules": rules})
	if change != nil {
		change(&o)
	}
	return verify.Policy(p, o)
}

func TestIndependentRulesCostTheirSum(t *testing.T) {
	if r := report(t, thirteen(), nil); r.States != 39 || len(r.Groups) != 13 {
		t.Errorf("%d states in %d groups", r.States, len(r.Groups))
	}
}

func TestLargeCounterCostsLittle(t *testing.T) {
	push := gate.Tool{Name: "push"}
	r := report(t, "limit push to 1000000 per session\n", func(o *verify.Options) {
		o.Prove = []verify.Assertion{verify.AtMost{Count: 1_000_000, Tools: []gate.Tool{push}}, verify.AlwaysPossible{Tool: push}, verify.AtMost{Count: 999, Tools: []gate.Tool{push}}}
	})
	if r.Visited > 1000 {
		t.Errorf("%d states were visited", r.Visited)
	}
	for i, want := range []verify.Result{verify.Proved, verify.Refuted, verify.Refuted} {
		if r.Proofs[i].Result != want {
			t.Errorf("%+v, want %v", r.Proofs[i], want)
		}
	}
	if d := r.Groups[0].Deadlock.Trace; len(d) != 1 || d[0].Times != 1_000_000 {
		t.Errorf("the lock is at %+v", d)
	}
}

func TestManyPrerequisites(t *testing.T) {
	r := report(t, star(20), func(o *verify.Options) {
		o.Prove = []verify.Assertion{verify.AlwaysPossible{Tool: gate.Tool{Name: "deploy"}}}
	})
	if r.Proofs[0].Result != verify.Proved {
		t.Errorf("%+v", r.Proofs[0])
	}
	i := slices.IndexFunc(r.Names, func(n verify.Name) bool { return n.Tool.Name == "deploy" })
	if calls := r.Names[i].Shortest.Calls(); len(calls) != 21 {
		t.Errorf("deploy by %v", calls)
	}
	if len(r.Redundant) > 0 || r.Groups[0].Deadlock.Result != verify.Proved {
		t.Errorf("redundant %v, deadlock %v", r.Redundant, r.Groups[0].Deadlock)
	}
}

// TestExceededBoundsAreUnknown checks that whatever exceeds the limits is unknown and has a reason.
func TestExceededBoundsAreUnknown(t *testing.T) {
	deploy := gate.Tool{Name: "deploy"}
	prove := []verify.Assertion{verify.AlwaysPossible{Tool: deploy}}
	rules := star(6)
	for i := range 6 {
		rules += fmt.Sprintf("limit a%d to 2 per deploy\n", i)
	}
	r := report(t, rules, func(o *verify.Options) { o.States, o.Prove = 100, prove })
	if p := r.Proofs[0]; p.Result != verify.Unknown || !strings.Contains(p.Why, "more states") {
		t.Errorf("%+v", p)
	}
	r = report(t, rules, func(o *verify.Options) { o.Stop, o.Prove = func() bool { return true }, prove })
	if p := r.Proofs[0]; p.Result != verify.Unknown || !strings.Contains(p.Why, "time") {
		t.Errorf("%+v", p)
	}
}

// TestMapperFunctionProvesNothing checks that nothing is proved if a function determines the names
// of calls.
func TestMapperFunctionProvesNothing(t *testing.T) {
	p, err := gate.NewPolicy([]gate.Net{{
		Name: "n", Places: []string{"p"}, Mapper: func(gate.Call) []gate.Name { return nil },
		Transitions: []gate.Transition{{Name: "t", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("x")}},
	}}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := verify.Policy(p, verify.Options{Prove: []verify.Assertion{verify.Never{Tool: gate.Tool{Name: "x"}}}})
	if r.Proofs[0].Result != verify.Unknown || r.Names[0].Callable != verify.Unsure || len(r.Gaps) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestKnownTools checks that a list of tools determines the meaning of a name with a dot and the
// further names of a tool.
func TestKnownTools(t *testing.T) {
	rules := "block github\nlimit github.delete to 1 per session\n"
	callable := func(r *verify.Report) verify.Callable { return r.Names[1].Callable }
	if n := report(t, rules, nil).Names[1]; n.Callable != verify.Unsure || n.Supposed != "github.delete" {
		t.Errorf("an action of a blocked tool, or a tool: %+v", n)
	}
	alone := func(o *verify.Options) { o.Known, o.Tools = true, []verify.Tool{{Name: "github"}} }
	if c := callable(report(t, rules, alone)); c != verify.Impossible {
		t.Errorf("an action of a blocked tool: %v", c)
	}
	r := report(t, rules, func(o *verify.Options) {
		o.Tools = []verify.Tool{{Name: "github__delete", Also: []gate.Name{{Text: "github.delete", Certain: true}}}}
	})
	if c := callable(r); c != verify.Possible {
		t.Errorf("a tool of its own: %v", c)
	}
}

// TestDoubtfulArguments checks that a run without known arguments does not refute anything.
func TestDoubtfulArguments(t *testing.T) {
	rules := "map sh.c /^[a-c]+$/ as low\nmap sh.c /^[b-d]+$/ as high\nblock high\nrequire low before sh\nblock \"x\"\n"
	r := report(t, rules, nil)
	for _, n := range r.Names {
		if n.Tool.Name == "low" && n.Callable == verify.Possible && n.Shortest[0].Args == "" {
			t.Errorf("%+v", n)
		}
	}
}

func TestUnknownNetsAndPlaces(t *testing.T) {
	r := report(t, "limit a to 1 per session\n", func(o *verify.Options) {
		o.Prove = []verify.Assertion{
			verify.Conserved{Net: "x"}, verify.Exclusive{Net: "x"}, verify.DeadlockFree{Net: "x"}, verify.NoTerminalStates{Net: "x"},
			verify.Exclusive{Net: "limit-a-1", Places: []string{"nowhere"}},
		}
	})
	for _, p := range r.Proofs {
		if p.Result != verify.Unknown || p.Why == "" {
			t.Errorf("%+v", p)
		}
	}
}

func TestSixtyRules(t *testing.T) {
	r := report(t, sixty(), nil)
	for _, n := range r.Names {
		if n.Callable == verify.Unsure {
			t.Errorf("%+v", n)
		}
	}
	if d := r.Groups[0].Deadlock; d.Result != verify.Refuted || len(d.Because) != 1 || d.Because[0].Name != "limit-*-1000" {
		t.Errorf("%+v", d)
	}
}

// TestOmittedCallsMakeResultsUnknown checks that omitted calls make those results unknown that they
// could affect, and no others.
func TestOmittedCallsMakeResultsUnknown(t *testing.T) {
	var rules strings.Builder
	rules.WriteString("require a before b\nlimit chat.* to 3 per session\n")
	for i := range 9 {
		fmt.Fprintf(&rules, "limit chat.a%d to 1 per session\n", i)
	}
	r := report(t, rules.String(), func(o *verify.Options) {
		o.Prove = []verify.Assertion{
			verify.NeverBefore{Tool: gate.Tool{Name: "b"}, First: gate.Tool{Name: "a"}},
			verify.AtMost{Count: 1, Tools: []gate.Tool{{Name: "chat.a0"}}},
			verify.AtMost{Count: 2, Tools: []gate.Tool{{Name: "chat.*", Kind: gate.Glob}}},
			verify.AtMost{Count: 3, Tools: []gate.Tool{{Name: "chat.*", Kind: gate.Glob}}},
			verify.Reachable{Tool: gate.Tool{Name: "chat.a0"}},
		}
	})
	if len(r.Gaps) != 1 {
		t.Errorf("gaps: %v", r.Gaps)
	}
	for i, want := range []verify.Result{verify.Proved, verify.Proved, verify.Refuted, verify.Unknown, verify.Proved} {
		if r.Proofs[i].Result != want {
			t.Errorf("%+v, want %v", r.Proofs[i], want)
		}
	}
}

// TestManyCalls checks a counterexample with more calls than are counted individually.
func TestManyCalls(t *testing.T) {
	r := report(t, "require lint before push\n", func(o *verify.Options) {
		o.Prove = []verify.Assertion{verify.AtMost{Count: 100, Tools: []gate.Tool{{Name: "lint"}}}}
	})
	calls := 0
	for _, step := range r.Proofs[0].Counterexample {
		if !step.Ends {
			calls += max(1, step.Times)
		}
	}
	if calls != 101 {
		t.Errorf("%+v", r.Proofs[0])
	}
}

// TestNoArguments checks that a result is left open if no known text distinguishes the maps'
// patterns, and that a list of texts is used if it distinguishes them.
func TestNoArguments(t *testing.T) {
	r := report(t, "map sh.c /^x{9}y?$/ as long\nmap sh.c /x{3}/ as short\nblock short\nlimit long to 1 per session\n", nil)
	for _, n := range r.Names {
		if n.Tool.Name == "long" && n.Callable == verify.Possible {
			t.Errorf("%+v", n)
		}
	}
}

// TestManyMaps checks that many maps of the same field leave few questions open, because each rule
// is about only few of them.
func TestManyMaps(t *testing.T) {
	names := func(words ...string) (tools []gate.Tool) {
		for _, w := range words {
			tools = append(tools, gate.Tool{Name: w})
		}
		return tools
	}("gmail-send", "gmail-read", "slack-send", "pay-send", "db-drop", "k8s-delete")
	r := report(t, assistant(), func(o *verify.Options) {
		o.Known = true // a tool named gmail-read would not need exec
		o.Prove = []verify.Assertion{
			verify.NeverBefore{Tool: names[0], First: names[1]},
			verify.NeverBefore{Tool: names[1], First: names[0]},
			verify.AtMost{Count: 3, Tools: []gate.Tool{names[2]}},
			verify.AtMost{Count: 1, Tools: []gate.Tool{names[3]}},
			verify.Never{Tool: names[4]},
			verify.NeverWithoutApproval{Tool: names[5]},
			verify.AlwaysPossible{Tool: names[1]},
		}
	})
	for i, want := range []verify.Result{verify.Proved, verify.Refuted, verify.Proved, verify.Refuted, verify.Proved, verify.Proved, verify.Refuted} {
		if r.Proofs[i].Result != want {
			t.Errorf("%+v, want %v", r.Proofs[i], want)
		}
	}
	for _, n := range r.Names {
		if n.Callable == verify.Unsure {
			t.Errorf("%+v", n)
		}
	}
}

// TestSearchesAskStopOften checks that searches call Stop often and do little after it has returned
// true.
func TestSearchesAskStopOften(t *testing.T) {
	const every = 160 // number of states: 64 plus the successors of the last state
	for _, c := range samples() {
		if c.name == "requires" || c.name == "commands" { // equal to another sample, and long
			continue
		}
		p, o := build(t, map[string]string{"policy.rules": c.rules, "prove": c.prove})
		asked := 0
		o.Stop = func() bool { asked++; return false }
		r := verify.Policy(p, o)
		if r.Visited > every*asked {
			t.Errorf("%s: %d states, but asked %d times", c.name, r.Visited, asked)
		}
		for _, last := range []int{1, asked / 3} {
			left := last
			o.Stop = func() bool { left--; return left <= 0 }
			r := verify.Policy(p, o)
			if left < 0 || r.Visited > every*last {
				t.Errorf("%s: stopped after %d questions, asked %d times more, %d states", c.name, last, -left, r.Visited)
			}
		}
	}
}

// TestCallsOfManyMaps checks that a set of calls that are not distinguished is not mistaken for all
// calls.
func TestCallsOfManyMaps(t *testing.T) {
	p, o := build(t, map[string]string{"policy.rules": assistant()})
	calls, why := verify.Calls(p, o)
	if len(calls) < 50 || why == "" {
		t.Errorf("%d calls, %q", len(calls), why)
	}
}

// TestObserversInFlightAreUnbounded checks that any number of observing calls can be in flight but
// that a transition that needs two of them is not always possible.
func TestObserversInFlightAreUnbounded(t *testing.T) {
	p, err := gate.NewPolicy([]gate.Net{{
		Name: "pairs", Places: []string{"p", "q", "r"}, Initial: map[string]int{"r": 3}, Free: []string{"a"},
		Transitions: []gate.Transition{
			{Name: "use", Inputs: []string{"p"}, Outputs: []string{"r"}, Tools: gate.Tools("c")},
			{Name: "pair", Inputs: []string{"p", "p"}, Outputs: []string{"q", "r"}},
			{Name: "open", Inputs: []string{"q"}, Outputs: []string{"q"}, Tools: gate.Tools("b")},
			{Name: "see", Inputs: []string{"r"}, Outputs: []string{"p"}, Tools: gate.Tools("c"), Deferred: true, Observe: true},
		},
	}}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := gate.Tool{Name: "b"}
	r := verify.Policy(p, verify.Options{Prove: []verify.Assertion{verify.AlwaysPossible{Tool: b}, verify.Never{Tool: b}}})
	if r.Proofs[0].Result != verify.Refuted || r.Proofs[1].Result != verify.Refuted {
		t.Errorf("%+v", r.Proofs)
	}
}
