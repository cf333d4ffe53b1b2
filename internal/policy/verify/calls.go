package verify

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Call stands for all calls that a policy cannot tell from it.
type Call struct {
	Name string // how a person would call it: its label, or the tool
	Tool string
	Also []gate.Name // of Options.Tools
	Args string      // JSON; empty: {}
}

// Calls are calls of every kind that the nets of the policy and the names of
// Options.Prove tell apart. why is empty where none was left out.
func Calls(p *gate.Policy, o Options) (calls []Call, why string) {
	o.passes = true // what no net knows is a kind of its own
	m := newProver(p, &o)
	why = m.Calls.AnyGap()
	kinds, gap := m.allKinds(&o)
	if why == "" {
		why = gap
	}
	for _, s := range slices.Concat(m.Classes, kinds) {
		if s.Doubtful {
			why = "no arguments are known that match some of the maps together"
			continue
		}
		calls = append(calls, Call{Name: s.Name(), Tool: s.Tool, Also: m.also[s.Tool], Args: s.Args})
	}
	return calls, why
}

// allKinds are the calls of open tools as all nets and the names of
// Options.Prove tell them apart.
func (m *prover) allKinds(o *Options) (classes []*callclass.Class, gap string) {
	var nets []int
	for i := range m.Nets {
		nets = append(nets, i)
	}
	classes, gap = m.Calls.Kinds(nets, nil)
	for _, a := range o.Prove {
		for _, t := range a.tools() {
			more, why := m.Calls.Kinds(nets, carrying(t))
			classes = append(classes, more...)
			gap = cmp.Or(gap, why)
		}
	}
	return classes, gap
}
