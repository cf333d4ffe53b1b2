package verify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestRandomForms compares verify with the gate for rules of all forms: lists, freshness, taint,
// keys, budgets at once, in a row and of amounts, allow, approvals by several people, and nets with
// phases.
func TestRandomForms(t *testing.T) { try(t, newFormTrial, 35) }

func newFormTrial(t *testing.T, seed uint64) *trial {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 13)), names: []string{"a", "b", "c"}, small: small(seed)}
	var rules []string
	if g.IntN(3) == 0 {
		rules = append(rules, fmt.Sprintf("map %s.f %s as m", g.pick("a", "b", "*"), g.pick("x", "y")))
		g.names = append(g.names, "m")
	}
	most := 4
	if g.small {
		most = 3
	}
	for range 1 + g.IntN(most) {
		rules = append(rules, g.form())
	}
	tr := &trial{t: t, seed: seed, rules: strings.Join(rules, "\n") + "\n", known: true, keyed: true, alone: true}
	tr.calls = formCalls(tr.rules)
	if g.IntN(3) == 0 {
		tr.add = append(tr.add, g.phases())
	}
	return g.trial(tr)
}

func (g *generator) some() string {
	a := g.pick(g.names...)
	if b := g.pick(g.names...); g.IntN(4) == 0 && a != b {
		return a + ", " + b
	}
	return a
}

func (g *generator) form() string {
	one := func() string { return g.pick(g.names...) }
	each := g.pick("", "", " for each f")
	same := g.pick("", "", " with same f", " with same result.$.r as f", " with same h as f")
	switch g.IntN(12) {
	case 0:
		return fmt.Sprintf("require %s before %s%s", g.some(), g.some(), same)
	case 1:
		return fmt.Sprintf("require %s or %s before %s%s", one(), one(), one(), same)
	case 2, 3:
		return fmt.Sprintf("require %s before %s since %s%s", one(), one(), g.some(), same)
	case 4, 5:
		return fmt.Sprintf("block %s after %s until %s%s", one(), one(), one(), g.pick("", "", " with same f"))
	case 6:
		return fmt.Sprintf("limit %s to %d at once%s", g.some(), 1+g.IntN(2), each)
	case 7:
		return fmt.Sprintf("limit %s to %d in a row", g.pick("*", one()), 1+g.IntN(2))
	case 8:
		return fmt.Sprintf("limit %s to %d of amount per session%s", one(), 1+g.IntN(2), each)
	case 9:
		return fmt.Sprintf("limit %s to %d per session%s", g.some(), 1+g.IntN(3), each)
	case 10:
		return fmt.Sprintf("require %d human-approvals before %s", 1+g.IntN(2), one())
	}
	return g.pick("allow ", "block ") + one()
}

// phases returns a net with allowlists.
func (g *generator) phases() gate.Net {
	n := gate.Net{Name: "phases", Places: []string{"p", "q"}, Initial: map[string]int{"p": 1}}
	n.Transitions = []gate.Transition{
		{Name: "go", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: gate.Tools(g.pick("a", "b")), Deferred: g.IntN(2) == 0, Observe: g.IntN(3) == 0},
		{Name: "back", Inputs: []string{"q"}, Outputs: []string{"p"}, Tools: gate.Tools(g.pick("b", "c"))},
	}
	for _, p := range n.Places {
		if g.IntN(2) == 0 {
			n.Phases = append(n.Phases, gate.Phase{Place: p, Tools: gate.Tools(g.pick("a", "b", "c"), g.pick("a", "b", "c"))})
		}
	}
	return n
}

// formCalls returns calls of all tools with the values and amounts that the rules read.
func formCalls(rules string) []gate.Call {
	var calls []gate.Call
	values, amounts := []string{"", `"f":"x"`, `"f":"y"`, `"f":"z"`, `"f":["x","y"]`}, []string{"", `"amount":0`, `"amount":1`}
	if strings.Contains(rules, "same h as f") {
		values = []string{"", `"f":"x"`, `"h":"x"`, `"f":"y","h":"x"`, `"f":"x","h":"x"`, `"f":"x","h":"y"`, `"h":"y"`, `"f":"z"`, `"f":"z","h":"x"`}
	}
	if !strings.Contains(rules, " f") {
		values = values[:1]
		if strings.Contains(rules, "map ") {
			values = []string{"", `"f":"x"`, `"f":"y"`}
		}
	}
	if !strings.Contains(rules, "amount") {
		amounts = amounts[:1]
	}
	again := []string{""}
	if strings.Contains(rules, "in a row") {
		again = []string{"", `"n":1`}
	}
	for _, tool := range []string{"a", "b", "c", "d"} { // no rule names d
		for _, v := range values {
			for _, amount := range amounts {
				for _, n := range again {
					var parts []string
					for _, part := range []string{v, amount, n} {
						if part != "" {
							parts = append(parts, part)
						}
					}
					calls = append(calls, gate.Call{Tool: tool, Args: []byte("{" + strings.Join(parts, ",") + "}")})
				}
			}
		}
	}
	return calls
}
