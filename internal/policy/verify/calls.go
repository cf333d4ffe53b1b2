package verify

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
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
	m := newModel(p, &o)
	why = m.anyGap()
	also := make(map[string][]gate.Name)
	for _, t := range o.Tools {
		also[t.Name] = t.Also
	}
	kinds, gap := m.allKinds(&o)
	if why == "" {
		why = gap
	}
	for _, s := range slices.Concat(m.shapes, kinds) {
		if s.doubtful {
			why = "no arguments are known that match some of the maps together"
			continue
		}
		calls = append(calls, Call{Name: s.name(), Tool: s.tool, Also: also[s.tool], Args: s.args})
	}
	return calls, why
}

// allKinds are the calls of open tools as all nets and the names of
// Options.Prove tell them apart.
func (m *model) allKinds(o *Options) (shapes []*shape, gap string) {
	var nets []int
	for i := range m.nets {
		nets = append(nets, i)
	}
	shapes, gap = m.kinds(nets, nil)
	for _, a := range o.Prove {
		for _, t := range a.tools() {
			more, why := m.kinds(nets, carrying(t))
			shapes = append(shapes, more...)
			gap = cmp.Or(gap, why)
		}
	}
	return shapes, gap
}
