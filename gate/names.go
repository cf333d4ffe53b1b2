package gate

import (
	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// newNaming registers the names and patterns of the nets that use the labels of the policy.
func newNaming(maps []Map, nets []*net) *naming.Naming {
	g := naming.New(maps)
	for _, n := range nets {
		if n.Labels == nil {
			continue
		}
		g.Use()
		n.listing.Register(g)
		for i := range n.Phases {
			g.Exempt(n.Phases[i].Tools)
		}
	}
	return g
}

// newIndex returns an index of the nets that might apply to a call. A net with its own names or
// patterns, rows or phases might apply to every call.
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

// Why reports whether the maps of the policy give the call this name, and the reason why that is
// doubtful or why the success of the call would not be evidence of it. An empty doubt means that
// the name is certain or that no map gives it. With [NotFound], a nonempty doubt means that the
// call contains a part of the pattern of a map, and describes the missing part.
func (p *Policy) Why(c Call, name string) (Doubt, Found) {
	j := &p.Prepare(c).judgement
	return p.names.Why(j.call, j.tools, name)
}

// Names returns all names of a call: the labels of the policy, followed by the names that nets with
// their own names add. It is as expensive as a decision.
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
