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
