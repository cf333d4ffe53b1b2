package verify_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// claims returns claims about a policy. The second claim is that no call of a precedes a call of b.
func (g *generator) claims(tr *trial, a, b gate.Tool, count int) []verify.Assertion {
	all := []verify.Assertion{
		verify.Never{Tool: a}, verify.NeverBefore{Tool: a, First: b}, verify.NeverWithoutApproval{Tool: a},
		verify.AtMost{Count: count, Tools: []gate.Tool{a}}, verify.Reachable{Tool: a}, verify.AlwaysPossible{Tool: a},
	}
	all = append(all, slices.Concat(g.moreClaims(tr, a, b), g.lockClaims(tr, a))...)
	if tr.keyed {
		field := func(t gate.Tool) gate.Field { return gate.Field{Path: cmp.Or(tr.fields[t.Name], "f")} }
		all = append(all,
			verify.ForEach{Of: verify.NeverBefore{Tool: a, First: b}, Key: []verify.Compared{{Field: field(a), Other: field(b)}}},
			verify.ForEach{Of: verify.AtMost{Count: count, Tools: []gate.Tool{a}}, Key: []verify.Compared{{Field: field(a), Other: field(a)}}})
	}
	for _, n := range tr.policy.Nets() {
		if n.Labels == nil && !n.Row {
			all = append(all, verify.Conserved{Net: n.Name}, verify.Exclusive{Net: n.Name, Places: n.Places[:2]},
				verify.DeadlockFree{Net: n.Name}, verify.NoTerminalStates{Net: n.Name})
		}
	}
	if g.small {
		all = fewClaims(tr.seed, all)
	}
	return append(slices.Clip(all), tr.more...)
}

// claimed returns a name, or a pattern that no rule uses and that matches names given by nets' own
// maps. It uses a separate random source, so that other random choices do not change.
func (g *generator) claimed(tr *trial) gate.Tool {
	name := g.asserted(tr.rules)
	own := rand.New(rand.NewPCG(tr.seed, uint64(len(name.Name))))
	labels := slices.ContainsFunc(tr.nets, func(n gate.Net) bool { return n.Labels != nil }) // the gate only gives a name to such a call if nets have labels
	words := strings.Contains(tr.rules, "word0")                                             // no call has this name
	if g.small || !labels || words || tr.keyed || tr.sampled || tr.o.Tools != nil || own.IntN(4) > 0 {
		return name
	}
	return gate.Tool{Name: []string{"a**", "o**", "?**", "m**", "**0", "**"}[own.IntN(6)], Kind: gate.Glob}
}
