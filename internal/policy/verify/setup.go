package verify

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func newProver(p *gate.Policy, o *Options) *prover {
	c := callclass.Options{Tools: o.Tools, Known: o.Known, Passes: o.passes, Syntheses: o.inventions, Lacks: o.Lacks}
	o.Prove = slices.Clone(o.Prove)
	c.Compared = compared(p, o.Prove)
	c.Names = Each{o.Prove}.tools()
	m := &prover{
		Model: explore.New(p, c, explore.Options{States: o.States, Stop: o.Stop}),
		deny:  p.Options().Deny && !o.passes, small: cmp.Or(o.groups, explore.GroupLimit),
		policy: p, also: callclass.Also(o.Tools), conditions: o.Conditions, options: o,
	}
	m.judging, m.rows = judging(m.Nets), inARow(m.Nets)
	return m
}

// compared returns the fields that assertions read and compare with each other. It also uses known
// to set the readers of expressions in the assertions' keys.
func compared(p *gate.Policy, all []Assertion) (out [][]callclass.Reading) {
	for i, a := range all {
		switch a := a.(type) {
		case Each:
			out = append(out, compared(p, a.Of)...)
		case ForEach:
			a.Key = slices.Clone(a.Key)
			about, others := a.sides()
			for k := range a.Key {
				c := &a.Key[k]
				c.Field, c.Other = known(p, c.Field), known(p, c.Other)
				own := list.Map(about, func(t gate.Tool) callclass.Reading { return callclass.Reading{Tool: t, Field: c.Field} })
				other := list.Map(others, func(t gate.Tool) callclass.Reading { return callclass.Reading{Tool: t, Field: c.Other} })
				out = append(out, append(own, other...))
			}
			all[i] = a
		}
	}
	return out
}

// known returns the field f. If f is an expression without a reader, known instead returns a field
// of the policy's keys that has the same source text.
func known(p *gate.Policy, f gate.Field) gate.Field {
	if f.Path != "" || f.Reader != nil {
		return f
	}
	for _, n := range p.Nets() {
		for _, t := range n.Transitions {
			for _, g := range slices.Concat(n.Key, t.Key) {
				if g.Reader != nil && g.Source == f.Source {
					return g
				}
			}
		}
	}
	return f
}

// sides returns two lists of names: the names of the calls that the claim is about, and those of
// the other calls that it involves.
func (a ForEach) sides() (about, others []gate.Tool) {
	switch of := a.Of.(type) {
	case NeverBefore:
		return []gate.Tool{of.Tool}, []gate.Tool{of.First}
	case AtMost:
		if of.Per.Call.Name != "" {
			others = []gate.Tool{of.Per.Call}
		}
		return of.Tools, others
	}
	return a.Of.tools(), nil
}
