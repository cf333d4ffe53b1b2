package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestMoved checks that Moved reflects a net's tokens, calls in flight, spent amount and key
// values.
func TestMoved(t *testing.T) {
	one := gate.Net{
		Name: "one", Places: []string{"p"}, Initial: map[string]int{"p": 1},
		Transitions: []gate.Transition{{Name: "use", Inputs: []string{"p"}, Tools: gate.Tools("use"), Deferred: true}},
	}
	keyed, sum := one, one
	keyed.Name, keyed.Key = "keyed", []gate.Field{{Path: "path"}}
	sum.Name, sum.Sum = "sum", &gate.Sum{Field: gate.Field{Path: "n"}, Most: 5}
	sum.Transitions = []gate.Transition{{Name: "use", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: gate.Tools("use")}}
	p, err := gate.NewPolicy([]gate.Net{one, keyed, sum}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := gate.NewSession(p, gate.SessionOptions{})
	moved := func(want bool) {
		t.Helper()
		for _, n := range s.Nets() {
			if n.Moved != want {
				t.Errorf("%s: %v", n.Name, n.Moved)
			}
		}
	}
	moved(false)
	d, ok := s.Decide(gate.Call{Tool: "use", Args: []byte(`{"path":"a","n":2}`)}, nil).(*gate.Allow)
	if !ok {
		t.Fatal("it is refused")
	}
	moved(true)
	s.End(d.Ticket.Number, gate.End{Outcome: gate.Success})
	moved(true)
	s.Reset()
	moved(false)
}
