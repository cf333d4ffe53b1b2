package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// plans is an advisory net that requires a plan before an act.
const plans = `
name: plans
class: advisory
places: [start, planned]
initialMarking: { start: 1 }
transitions:
  - { name: plan, inputs: [start], outputs: [planned], tools: [plan], deferred: true }
  - { name: act, inputs: [planned], outputs: [start], tools: [act] }
`

// TestAdvisoryNetsProveNothing checks that a claim is unknown, with a reason that names the net, if
// it depends on what an advisory net blocks. It also checks that such a claim is proved if it holds
// without the net, and refuted if a call is possible in spite of the net.
func TestAdvisoryNetsProveNothing(t *testing.T) {
	for _, c := range []struct {
		claim string
		want  verify.Result
		why   bool
	}{
		{"never act before plan", verify.Unknown, true},
		{"never plan", verify.Refuted, false},
		{"never rm", verify.Proved, false},
		{"at-most 1 push", verify.Proved, false},
		{"at-most 2 act", verify.Proved, false},
		{"at-most 1 act", verify.Refuted, false},
		{"reachable act", verify.Proved, false},
		{"reachable rm", verify.Refuted, false},
		{"always-possible act", verify.Unknown, true},
		{"always-possible push", verify.Refuted, false},
		{"conserved plans", verify.Proved, false},
		{"deadlock-free plans", verify.Unknown, true},
	} {
		t.Run(c.claim, func(t *testing.T) {
			p, o := build(t, map[string]string{"policy.rules": "block rm\nlimit push to 1 per session\nlimit act to 2 per session\n", "nets.yaml": plans, "prove": c.claim})
			got := verify.Policy(p, o).Proofs[0]
			if got.Result != c.want || c.why != (got.Why == "the advisory net plans does not block where it yields") {
				t.Errorf("%v, %q", got.Result, got.Why)
			}
			if slices.ContainsFunc(got.Because, func(n verify.Net) bool { return n.Name == "plans" }) && c.claim != "conserved plans" {
				t.Errorf("because %v", got.Because)
			}
		})
	}
}

// TestAdvisoryNets checks that results about uncallable names, deadlocks and redundant nets are
// unknown if they depend on an advisory net.
func TestAdvisoryNets(t *testing.T) {
	never := strings.Replace(plans, "inputs: [planned]", "inputs: [planned, planned]", 1)
	p, o := build(t, map[string]string{"policy.rules": "require plan before act\nrequire act before ship\n", "nets.yaml": never})
	r := verify.Policy(p, o)
	for _, n := range r.Names {
		if possible := n.Callable == verify.Possible; possible != (n.Tool.Name == "plan") || !possible && n.Callable != verify.Unsure {
			t.Errorf("%+v", n)
		}
	}
	if d := r.Groups[0].Deadlock; len(r.Groups) != 1 || d.Result != verify.Unknown || !strings.Contains(d.Why, "the advisory net plans") {
		t.Errorf("%+v", r.Groups)
	}
	if len(r.Redundant) > 0 {
		t.Errorf("redundant: %+v", r.Redundant)
	}
	remedy := verify.NewRemedyFinder(p, o).Remedy(refusal(t, p, "", "act"))
	if remedy.None || remedy.Found || !strings.Contains(remedy.Why, "the advisory net plans") {
		t.Errorf("%+v", remedy)
	}
}

// TestAdvisoryWalks checks that no random walk violates a proof. The tools are such that nets may
// leave no choice.
func TestAdvisoryWalks(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 2))
	tools := []string{"a", "b", "c"}
	results := map[verify.Result]int{}
	for range 60 {
		var nets []gate.Net
		for i := range 2 + r.IntN(2) {
			n := gate.Net{Name: fmt.Sprint("n", i), Places: []string{"p", "q", "x"}, Initial: map[string]int{"p": 1}, Priority: r.IntN(3), Advisory: r.IntN(2) == 0}
			for k, arcs := range [][2]string{{"p", "q"}, {"q", "p"}, {"x", "x"}}[:2+r.IntN(2)] {
				n.Transitions = append(n.Transitions, gate.Transition{Name: fmt.Sprint("t", k), Inputs: arcs[:1], Outputs: arcs[1:], Tools: gate.Tools(tools[r.IntN(3)])})
			}
			if r.IntN(3) == 0 {
				n.Recovery = map[string]int{"q": 1}
			}
			nets = append(nets, n)
		}
		p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var o verify.Options
		var offered []gate.Call
		for _, tool := range tools {
			o.Prove = append(o.Prove, verify.Never{Tool: gate.Tool{Name: tool}}, verify.AtMost{Count: 1, Tools: []gate.Tool{{Name: tool}}})
			offered = append(offered, gate.Call{Tool: tool})
		}
		report := verify.Policy(p, o)
		for _, proof := range report.Proofs {
			results[proof.Result]++
		}
		for range 10 {
			s := gate.NewSession(p, gate.SessionOptions{})
			s.Offer(offered)
			made := map[string]int{}
			for range 12 {
				tool := r.IntN(3)
				a, ok := s.Decide(offered[tool], nil).(*gate.Allow)
				if !ok {
					continue
				}
				a.Ticket.Settle(gate.Success)
				made[tools[tool]]++
				never, most := report.Proofs[2*tool], report.Proofs[2*tool+1]
				if never.Result == verify.Proved || most.Result == verify.Proved && made[tools[tool]] > 1 {
					t.Fatalf("%s was admitted: %+v\n%+v", tools[tool], nets, report.Proofs)
				}
			}
		}
	}
	for _, want := range []verify.Result{verify.Proved, verify.Refuted, verify.Unknown} {
		if results[want] == 0 {
			t.Errorf("%v", results)
		}
	}
}
