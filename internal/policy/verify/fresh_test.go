package verify_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestRandomSpoilers compares verify with the gate for nets with spoiling calls (freshness and
// taint), including overlapping calls, failures and unknown outcomes.
func TestRandomSpoilers(t *testing.T) { try(t, newSpoilTrial, 40) }

func newSpoilTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 11)), spoils: true, small: small(seed)}
	src := g.rules()
	calls, known := g.plainCalls(src, seed)
	return g.trial(&trial{t: t, seed: seed, rules: src, known: known, calls: calls, add: g.spoiled()})
}

// spoiled returns nets of freshness and taint.
func (g *generator) spoiled() (nets []gate.Net) {
	most := 2
	if g.small {
		most = 1
	}
	for i := range 1 + g.IntN(most) {
		n := gate.Net{Name: fmt.Sprint("fresh", i), Places: []string{"p", "q"}, Initial: map[string]int{"p": 1}}
		tools := func() []gate.Tool { return gate.Tools(g.pick("a", "b", "c")) }
		if g.IntN(2) == 0 {
			n.Transitions = []gate.Transition{
				{Name: "first", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: tools(), Observe: true, Deferred: true},
				{Name: "then", Inputs: []string{"q"}, Outputs: []string{g.pick("p", "q")}, Tools: tools()},
				{Name: "spoil", Inputs: []string{"q"}, Outputs: []string{"p"}, Tools: tools(), Observe: true, Spoils: true},
			}
		} else {
			n.Transitions = []gate.Transition{
				{Name: "taint", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: tools(), Observe: true, Spoils: true},
				{Name: "clear", Inputs: []string{"q"}, Outputs: []string{"p"}, Tools: tools(), Observe: true, Deferred: true},
				{Name: "clean", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: tools()},
			}
			if g.IntN(3) == 0 {
				n.Transitions = append(n.Transitions, gate.Transition{Name: "ask", Inputs: []string{"q"}, Outputs: []string{"q"}, Tools: n.Transitions[2].Tools, Manual: true})
			}
		}
		nets = append(nets, n)
	}
	return nets
}
