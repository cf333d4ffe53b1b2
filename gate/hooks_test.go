package gate_test

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestFiringNames checks that a validator gets all names of a call, including several that one
// transition gates.
func TestFiringNames(t *testing.T) {
	n := twoNames(handNet("n", map[string]int{"p": 1}, "t: p -> p | a b"), "a", "b")
	n.Validate = func(f gate.Firing) error {
		if f.Name != "a" || !slices.Equal(f.Names, []string{"a", "b"}) {
			t.Errorf("name %q, names %q", f.Name, f.Names)
		}
		return nil
	}
	p := play(t, gate.PolicyOptions{}, n)
	p.allowCall(gate.Call{Tool: "x"}, nil)
}

// TestIdentity checks that a net with different functions is a different net.
func TestIdentity(t *testing.T) {
	print := func(identity string) string {
		n := handNet("n", map[string]int{"p": 1}, "t: p -> p | a")
		n.Validate, n.Identity = func(gate.Firing) error { return nil }, identity
		p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Fingerprint() + p.Nets()[0].Fingerprint
	}
	first, again := print("a"), print("a")
	if first != again || first == print("b") || first == print("") {
		t.Error("the fingerprint does not tell the identities apart")
	}
}
