package gate

import (
	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// newNaming collects what the rules among nets use, and numbers their globs.
func newNaming(maps []Map, nets []*net) *naming.Naming {
	g := naming.New(maps)
	for _, n := range nets {
		if n.Labels == nil {
			continue
		}
		g.Use()
		n.listing.Join(g)
		for i := range n.Phases {
			g.Exempt(n.Phases[i].Tools)
		}
	}
	return g
}

// newIndex returns which nets a call can be about. Nets with names or patterns of their
// own, rows or phases can be about every call.
func newIndex(g *naming.Naming, nets []*net) listing.Index {
	x := listing.NewIndex(len(nets), len(g.Patterns()))
	for _, n := range nets {
		tools, patterns := n.own.Maps.Tools()
		if n.Labels == nil && (n.Mapper != nil || len(n.own.Patterns) > 0 || patterns) || n.Row || len(n.Phases) > 0 {
			x.Always(n.index)
		} else {
			x.Add(n.index, &n.listing, tools)
		}
	}
	return x
}

// Why returns whether the maps of the rules give the call a name, and why that is in doubt, or why
// success of the call would not show it; without a doubt, the name is certain or the maps do not give it. With
// [NotFound], the call has a part of what a map looks for, and the doubt says what is missing.
func (p *Policy) Why(c Call, name string) (Doubt, Found) {
	j := &p.Prepare(c).judgement
	return p.names.Why(j.call, j.tools, name)
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
