package gate

import "github.com/petrigate/petrigate/gate/internal/naming"

// newNaming collects what the rules among nets use, and numbers their globs.
func newNaming(maps []Map, nets []*net) *naming.Naming {
	g := naming.New(maps)
	for _, n := range nets {
		if n.Labels == nil {
			continue
		}
		g.Use()
		for name := range n.rows {
			g.Name(name)
		}
		for i := range n.own.Patterns {
			n.globs[i].number = g.Number(&n.own.Patterns[i])
		}
		for i := range n.Transitions {
			g.Exempt(n.Transitions[i].Unless)
		}
		for i := range n.Phases {
			g.Exempt(n.Phases[i].Tools)
		}
	}
	return g
}

// Names returns all names of a call: the labels of the policy, then those that nets
// with names of their own add, in their order. It costs as much as a decision.
func (p *Policy) Names(c Call) []Name {
	j := &p.Prepare(c).judgement
	ls := j.labels
	for _, n := range p.nets {
		if n.Labels == nil && n.own.Adds() {
			own, _ := n.own.Labels(j.call, j.tools)
			ls = naming.Merge(ls, own)
		}
	}
	return naming.Names(ls)
}
