package callclass

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// visibleAtoms returns the indexes of the atoms that can affect the nets or the result of tag. An
// atom is a map, an action or a pattern that a call can match.
func (d *deferredGroup) visibleAtoms(nets []int, tag func(*Class) uint8) []int {
	atoms := list.FlatMap(nets, func(n int) []int { return d.byNet[n] })
	for i := 0; tag != nil && i < len(d.alone); i++ {
		if slices.ContainsFunc(d.alone[i], func(s contrast) bool { return tag(s.with) != tag(s.without) }) {
			atoms = append(atoms, i)
		}
	}
	slices.Sort(atoms)
	return slices.Compact(atoms)
}

// kinds returns the classes of calls that the given atoms (maps, actions or patterns) distinguish.
// Results are cached.
func (d *deferredGroup) kinds(atoms []int) kindSet {
	key := string(AppendKey(nil, atoms))
	k, ok := d.made[key]
	if !ok {
		k = d.of(atoms)
		d.made[key] = k
	}
	return k
}

// Kinds returns classes of the calls whose enumeration was deferred. It distinguishes only calls
// that differ in their effects on the nets or in the result of tag. If classes might be missing,
// Kinds also returns the reason.
func (b *Enumerator) Kinds(nets []int, tag func(*Class) uint8) (classes []*Class, gap string) {
	for _, d := range b.deferred {
		k := d.kinds(d.visibleAtoms(nets, tag))
		classes = append(classes, k.classes...)
		if k.gap != "" {
			b.overflows = list.Add(b.overflows, k.gap)
		}
		gap = cmp.Or(gap, k.gap)
	}
	return classes, gap
}

// JointNets returns, for each group of deferred calls, the nets that a single call of the group can
// affect. The enumeration of calls is deferred if they can match too many combinations of maps,
// actions or patterns to list.
func (b *Enumerator) JointNets() [][]int {
	return list.Map(b.deferred, func(d *deferredGroup) []int { return d.nets })
}
