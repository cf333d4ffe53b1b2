package verify_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestConditions checks that findings about calls with a condition have arguments that satisfy, or
// do not satisfy, the condition. The gate replays them.
func TestConditions(t *testing.T) {
	for _, rules := range []string{
		"map charge when \"args.amount > 50000\" as big-charge\nrequire human-approval before big-charge\n",
		"map a when \"args.r.k == 'x'\" as o\nblock m\nrequire a.go before o once\n",
		"map a when \"args.n >= 3 && args.kind == 'gold'\" as o\nmap a when \"args.n < 0\" as p\nrequire p before o\nblock a.x\n",
		"map a when \"has(args.?deep.key) || args.list.size() > 0\" as o\nlimit o to 2 per session\n",
		"map a when \"args.text.startsWith('drop')\" as o\nmap a.text table as tables\nrequire o before tables\n",
		"map a when \"args.f\" as o\nmap a.c runs rm as rm\nrequire o before rm\n",
	} {
		for _, deny := range []bool{false, true} {
			p, o := build(t, map[string]string{"policy.rules": rules})
			var nets []gate.Net
			for _, n := range p.Nets() {
				nets = append(nets, n.Net)
			}
			p, err := gate.NewPolicy(nets, gate.PolicyOptions{Labels: p.Options().Labels, Deny: deny})
			if err != nil {
				t.Fatal(err)
			}
			shown := 0
			for _, n := range verify.Policy(p, o).Names {
				trace := n.Shortest
				if n.Callable == verify.AfterFailure {
					trace = n.Failing
				}
				if len(trace) == 0 {
					continue
				}
				shown++
				pl := replay(p, trace)
				if pl.refused >= 0 || !carried(pl.calls[len(pl.names)-1], pl.names[len(pl.names)-1], n.Tool, false) {
					t.Errorf("%sdeny %v: %s by %+v", rules, deny, n.Tool.Name, trace)
				}
			}
			if shown == 0 && !deny { // an expression does not make a call known
				t.Errorf("%sdeny %v: nothing can be called", rules, deny)
			}
		}
	}
}
