package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestBecause checks that the author's explanation comes first in refusals and in questions to a
// person.
func TestBecause(t *testing.T) {
	n := gate.Net{Name: "n", Places: []string{"a", "b"}, Initial: map[string]int{"a": 1}, Cause: gate.CauseBlock, Transitions: []gate.Transition{
		{Name: "ask", Inputs: []string{"a"}, Outputs: []string{"a"}, Tools: gate.Tools("deploy"), Manual: true},
		{Name: "do", Inputs: []string{"b"}, Outputs: []string{"b"}, Tools: gate.Tools("cargo")},
	}}
	for because, want := range map[string]string{
		"":                    "",
		"Use mise run":        "Use mise run. ",
		"Use mise run 2":      "Use mise run 2. ",
		"Use mise run: é":     "Use mise run: é. ",
		"Use mise run {key}!": "Use mise run {key}! ",
	} {
		n.Because = because
		p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := gate.NewSession(p, gate.SessionOptions{})
		refused, _ := s.Decide(gate.Call{Tool: "cargo"}, nil).(*gate.Refusal)
		if text := want + "Tool 'cargo' is not available in the current state."; refused == nil || refused.Text != text || refused.Blocks[0].Reason != text {
			t.Errorf("%q: %+v, want %q", because, refused, text)
		}
		asked, _ := s.Decide(gate.Call{Tool: "deploy"}, nil).(*gate.Ask)
		if text := want + "deploy requires human approval."; asked == nil || asked.Steps[0].Reason != text || asked.Refusal().Text != text {
			t.Errorf("%q: %+v, want %q", because, asked, text)
		}
	}
}

// TestBecauseCounts checks that nets with different explanations are different nets and make
// different policies.
func TestBecauseCounts(t *testing.T) {
	net := func(because string) gate.Net {
		return gate.Net{Name: "n", Because: because, Labels: &gate.Labels{}, Places: []string{"a"}, Transitions: []gate.Transition{
			{Name: "do", Inputs: []string{"a"}, Outputs: []string{"a"}, Tools: gate.Tools("x")},
		}}
	}
	prints := map[string]bool{}
	for _, nets := range [][]gate.Net{{net("")}, {net("a")}, {net("a"), net("b")}} {
		p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Nets()) != len(nets) || prints[p.Fingerprint()] {
			t.Errorf("%d nets are %d, with the fingerprint %s", len(nets), len(p.Nets()), p.Fingerprint())
		}
		prints[p.Fingerprint()] = true
	}
}
