package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestMappedActions checks that a claim about actions matched by maps is not proved if a call
// refutes it, whether or not a text is known that distinguishes the maps.
func TestMappedActions(t *testing.T) {
	var many strings.Builder
	for i := range 10 {
		fmt.Fprintf(&many, "map x.action /a%d/ as l%[1]d\nlimit l%[1]d to %d per session\n", i, i+1)
	}
	tests := []struct {
		rules, claims string
		calls         []string
	}{
		{"map x.action /^[a-c]+$/ as low\nmap x.action /^[b-d]+$/ as high\nblock low\nlimit high to 2 per session\n", "never high\nat-most 1 high\n", []string{`x{"action":"d"}`, `x{"action":"d"}`}},
		{"map x.action /^[a-c]+$/ as low\nmap x.action /^[b-d]+$/ as high\nblock low\nlimit high to 2 per session\nrequire high before pay\n", "never pay\n", []string{`x{"action":["d"]}`, `x{"action":"d"}`, "pay"}},
		{many.String(), "never l9\nat-most 1 l8\n", []string{`x{"action":"a8"}`, `x{"action":"a8, a9"}`}},
		{"map x.action /now/ as urgent\nlimit x* to 1 per session\nrequire urgent before pay\nrequire x.del* before pay\n", "never pay\n", []string{`x{"action":"delete now"}`, "pay"}},
		{"map x.action runs rm as wipe\nlimit x* to 1 per session\nrequire wipe before pay\nrequire x.rm* before pay\n", "never pay\n", []string{`x{"action":"rm a"}`, "pay"}},
		{"map a.action go as m\nblock a.go\nlimit m to 5 per session\n", "never m\n", []string{`a{"action":"zip.go"}`}},
		{"map a.action go as m\nrequire x before a.go\nlimit m to 5 per session\n", "never m before x\n", []string{`a{"action":"zip.go"}`}},
		{"map a.action go as m\nblock a.g*\nrequire m before pay\n", "never pay\n", []string{`a{"action":"no go"}`, "pay"}},
		{"map a.action runs rm as m\nblock \"a.rm\"\nrequire m before pay\n", "never pay\n", []string{`a{"action":"rm y"}`, "pay"}},
	}
	for _, test := range tests {
		p, o := build(t, map[string]string{"policy.rules": test.rules, "prove": test.claims})
		s := p.NewState(nil)
		for _, text := range test.calls {
			now, ok := begin(p, s, callOf(text))
			if !ok {
				t.Fatalf("%s%s is refused", test.rules, text)
			}
			s = settle(p, now.state, now.number, gate.Success)
		}
		r := verify.Policy(p, o)
		for _, proof := range r.Proofs {
			if proof.Result == verify.Proved {
				t.Errorf("%sproved: %+v", test.rules, proof.Assertion)
			}
		}
		if len(r.Redundant) > 0 {
			t.Errorf("%sredundant: %+v", test.rules, r.Redundant)
		}
	}
}
