package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/config/policy"
	"github.com/petrigate/petrigate/gate"
)

const once = `version: 1
rules: [{ inline: "map bash.command rm as delete\nblock delete\nprove never delete\nprove reachable bash" }]
nets:
  - name: once
    scope: global
    places: [left, used]
    initialMarking: { left: 1 }
    transitions: [{ name: deploy, inputs: [left], outputs: [used], tools: [deploy] }]
    prove: [no-terminal-states]
`

func parse(t *testing.T, text string, o policy.Options) (*policy.Policy, error) {
	t.Helper()
	c, err := config.Parse("petrigate.yaml", []byte(text), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return policy.New(c, o)
}

func newPolicy(t *testing.T, text string, o policy.Options) *policy.Policy {
	t.Helper()
	p, err := parse(t, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var rm = gate.Call{Tool: "bash", Args: []byte(`{"command":"rm -rf build/"}`)}

// refused returns the text of a call's refusal, or the empty string if the call is allowed.
func refused(s *gate.Session, c gate.Call) string {
	if r, ok := s.Decide(c, nil).(*gate.Refusal); ok {
		return r.Text
	}
	return ""
}

// TestSharedByDefault checks that, without further options, sessions share the state that the
// configuration counts globally.
func TestSharedByDefault(t *testing.T) {
	p := newPolicy(t, once, policy.Options{})
	first, second := p.NewSession("alice", gate.SessionOptions{}), p.NewSession("", gate.SessionOptions{})
	if refused(first, gate.Call{Tool: "deploy"}) != "" || refused(second, gate.Call{Tool: "deploy"}) == "" {
		t.Error("a global net is not shared")
	}
	own := gate.NewShared(p.Policy, gate.ScopeGlobal, gate.SharedOptions{})
	if refused(p.NewSession("", gate.SessionOptions{Global: own, Principal: gate.NewShared(p.Policy, gate.ScopePrincipal, gate.SharedOptions{})}), gate.Call{Tool: "deploy"}) != "" {
		t.Error("what was given is not shared")
	}
	if refused(second, rm) == "" {
		t.Error("rm is allowed")
	}
}

// TestActiveSelectsNets checks that "active" selects hand-written nets, and that nets generated
// from rules are always active.
func TestActiveSelectsNets(t *testing.T) {
	inGo := gate.Net{Name: "in go", Places: []string{"never"}, Transitions: []gate.Transition{
		{Name: "t", Inputs: []string{"never"}, Outputs: []string{"never"}, Tools: gate.Tools("never")}}}
	p := newPolicy(t, once+"  - { name: other, places: [p], initialMarking: { p: 1 }, transitions: [{ name: t, inputs: [p], outputs: [p], tools: [x] }] }\nactive: [other]\n",
		policy.Options{Nets: []gate.Net{inGo}})
	s := p.NewSession("", gate.SessionOptions{})
	if refused(s, rm) == "" || refused(s, gate.Call{Tool: "never"}) == "" || refused(s, gate.Call{Tool: "deploy"}) != "" || refused(s, gate.Call{Tool: "deploy"}) != "" {
		t.Errorf("active: %v", p.Active)
	}
	all := p.NewSession("", gate.SessionOptions{Active: []string{"once"}})
	if refused(all, rm) != "" {
		t.Error("the session was told what is active")
	}
	report, err := p.Verify(t.Context(), policy.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := results(report); got != "never delete: proved; reachable bash: proved; no-terminal-states once: unknown, the net is not active" {
		t.Errorf("proofs: %s", got)
	}
}

func results(r *policy.Report) string {
	var all []string
	for _, p := range r.Proofs {
		text := strings.TrimPrefix(p.Claim, "prove ") + ": " + string(p.Result)
		if p.Why != "" {
			text += ", " + p.Why
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// TestVerify verifies a policy in shadow mode as if it were enforced.
func TestVerify(t *testing.T) {
	for _, mode := range []string{"", "mode: shadow\n"} {
		p := newPolicy(t, once+mode, policy.Options{Tools: []string{"bash", "deploy"}})
		report, err := p.Verify(t.Context(), policy.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := results(report); got != "never delete: proved; reachable bash: proved; no-terminal-states once: refuted" {
			t.Errorf("%sproofs: %s", mode, got)
		}
		if last := report.Proofs[2]; last.Rule.Line != 9 || len(last.Counterexample) == 0 || last.Counterexample[0].Tool != "deploy" {
			t.Errorf("%s%+v", mode, last)
		}
		got := make(map[string]policy.Callable)
		for _, n := range report.Names {
			got[n.Tool.Name] = n.Callable
			if n.Tool.Name == "delete" && (len(n.Because) != 1 || n.Because[0].Name != "block-delete") {
				t.Errorf("%s%+v", mode, n)
			}
		}
		if got["delete"] != policy.Never || got["deploy"] != policy.Possible {
			t.Errorf("%s%v", mode, got)
		}
		stuck := slices.ContainsFunc(report.Groups, func(g policy.Group) bool {
			return g.Nets[0].Name == "once" && g.DeadlockFree == policy.Refuted && len(g.Trace) > 0 && g.Because[0].Name == "once"
		})
		if !stuck || len(report.Gaps) > 0 || len(p.Warnings) > 0 {
			t.Errorf("%s%+v, warnings %v", mode, report, p.Warnings)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := newPolicy(t, once, policy.Options{}).Verify(done, policy.VerifyOptions{})
	if err != nil || report.Names[0].Callable != policy.Unsure || report.Proofs[0].Result == policy.Refuted {
		t.Errorf("%v %+v", err, report)
	}
	useless := slices.ContainsFunc(report.Open, func(q policy.Question) bool {
		return q.Topic == policy.Useless && len(q.Nets) == 2 && q.Why != ""
	})
	if !useless {
		t.Errorf("it is not said that useless nets were not looked for: %+v", report.Open)
	}
}

// TestSchemas checks that unlisted arguments make nothing possible and that no remedy contains
// them.
func TestSchemas(t *testing.T) {
	for argument, want := range map[string]policy.Callable{"path": policy.Possible, "file": policy.Unsure} {
		schema := json.RawMessage(`{"properties":{"` + argument + `":{}},"additionalProperties":false}`)
		p := newPolicy(t, "version: 1\nrules: [{ inline: 'require backup before delete with same path' }]\n", policy.Options{
			Tools: []string{"backup", "delete"}, Schemas: map[string]json.RawMessage{"backup": schema},
		})
		report, err := p.Verify(t.Context(), policy.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range report.Names {
			if n.Tool.Name == "delete" && n.Callable != want {
				t.Errorf("%s: delete is %s, want %s", argument, n.Callable, want)
			}
		}
		s, call := p.NewSession("", gate.SessionOptions{}), gate.Call{Tool: "delete", Args: []byte(`{"path":"a"}`)}
		if remedy := p.Remedy(s, call, s.Decide(call, nil).(*gate.Refusal)); (len(remedy.Steps) > 0) != (want == policy.Possible) {
			t.Errorf("%s: the way out is %q", argument, remedy.Text)
		}
		if warned := len(p.Warnings) > 0; warned != (want == policy.Unsure) {
			t.Errorf("%s: warnings %v", argument, p.Warnings)
		}
	}
}

// TestVerifyFindsUselessRules finds rules without effect.
func TestVerifyFindsUselessRules(t *testing.T) {
	p := newPolicy(t, "version: 1\nrules: [{ inline: \"block rm\\nlimit rm to 3 per session\" }]\n", policy.Options{})
	report, err := p.Verify(t.Context(), policy.VerifyOptions{})
	if err != nil || len(report.Redundant) != 1 || report.Redundant[0].Name != "limit-rm-3" || report.Redundant[0].Rule.Line != 2 {
		t.Errorf("%v %+v", err, report.Redundant)
	}
}

func TestProblems(t *testing.T) {
	_, err := parse(t, "version: 1\nrules: [{ inline: \"blok rm\\nblock\" }]\n", policy.Options{})
	var one policy.Problem
	all, ok := err.(policy.Problems)
	if !ok || len(all) != 2 || !errors.As(err, &one) || one.Pos.Line != 2 || one.Hint != `did you mean "block"?` || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Errorf("%v %+v", err, one)
	}
	bad := gate.Net{Name: "typo", Places: []string{"p"}, Initial: map[string]int{"q": 1}}
	if _, err := parse(t, once, policy.Options{Nets: []gate.Net{bad}}); !errors.As(err, new(gate.ErrorList)) {
		t.Errorf("got %v, want what is wrong with the net in Go", err)
	}
	p := newPolicy(t, once, policy.Options{Tools: []string{"bash", "deploi"}})
	if len(p.Warnings) != 1 || p.Warnings[0].Net != "once" || !strings.Contains(p.Warnings[0].Error(), `unknown tool "deploy"`) {
		t.Errorf("warnings: %v", p.Warnings)
	}
}
