package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/fingerprint"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

func (p *Policy) readIDs() []NetID {
	maps, ids := p.Maps(), make([]NetID, len(p.nets))
	for i, n := range p.nets {
		ids[i] = NetID{Name: n.Name, Print: fingerprint.WithMaps(n.print, n.mapsFor(maps))}
		if b := n.budget; b != nil {
			place := ""
			if b.place >= 0 {
				place = n.Places[b.place]
			}
			ids[i].Limit, ids[i].Family = fingerprint.Limit(&n.Net, b.spend), fingerprint.Family(&n.Net, place)
		}
	}
	return ids
}

// mapsFor returns those of the given maps (see [Map]) that give calls a name listed by the net. For
// a net without Labels, it returns nil: the net's own maps are already part of its fingerprint.
func (d *definition) mapsFor(maps []Map) (fed []Map) {
	if d.Labels == nil {
		return nil
	}
	var names []Tool
	for i := range d.Transitions {
		t := &d.Transitions[i]
		names = slices.Concat(names, t.Tools, t.Unless)
		for _, u := range t.Tools {
			names = append(names, Tool{Name: u.Except})
		}
	}
	names = append(names, Tools(d.Free...)...)
	for _, ph := range d.Phases {
		names = append(names, ph.Tools...)
	}
	return list.Filter(maps, func(m Map) bool {
		l := naming.Label{Text: m.As, From: naming.FromMap}
		return slices.ContainsFunc(names, func(u Tool) bool { return naming.Matches(&u, &l) })
	})
}

// Heirs determines which old net each net of p replaces. The result contains one entry for each net
// of p, in order: an index in olds, or -1. Two nets have the same Print if their structure and maps
// are the same; the new net then takes over the old net's state. Two limits have the same Limit if
// they count the same calls; the new limit then takes over the old limit's usage. Each old net is
// replaced at most once. If several old nets have the same Print, Heirs prefers one with the same
// Name. If several have the same Limit, it prefers one with the same Family, which differs only in
// its maximum.
func (p *Policy) Heirs(olds []NetID) []int {
	heirs, taken := make([]int, len(p.nets)), make([]bool, len(olds))
	for i := range heirs {
		heirs[i] = -1
	}
	for _, key := range []func(*NetID) [2]string{
		func(id *NetID) [2]string { return [2]string{id.Print, id.Name} },
		func(id *NetID) [2]string { return [2]string{id.Print} },
		func(id *NetID) [2]string { return [2]string{id.Limit, id.Family} },
		func(id *NetID) [2]string { return [2]string{id.Limit} },
	} {
		free := make(map[[2]string][]int)
		for k := range olds {
			if !taken[k] {
				free[key(&olds[k])] = append(free[key(&olds[k])], k)
			}
		}
		for i := range p.nets {
			name := key(&p.ids()[i])
			if left := free[name]; heirs[i] < 0 && name[0] != "" && len(left) > 0 {
				heirs[i], taken[left[0]], free[name] = left[0], true, left[1:]
			}
		}
	}
	return heirs
}
