package callclass

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// visibleAtoms returns the atoms that can affect one of the nets or the result of tag. An atom is
// the index of a map statement, an action or a pattern. A query uses tag to classify calls.
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

// kinds returns the classes of calls that differ in the given atoms (maps, actions or patterns). It
// caches its results.
func (d *deferredGroup) kinds(atoms []int) kindSet {
	key := string(AppendKey(nil, atoms))
	k, ok := d.made[key]
	if !ok {
		k = d.of(atoms)
		d.made[key] = k
	}
	return k
}

// Kinds returns classes for the deferred calls, which were too varied to be enumerated in advance.
// The classes distinguish calls by their effects on the nets and by the result of tag, a query's
// function for classifying calls. If classes might be missing, gap is the reason.
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
// affect. Calls are deferred if they have too many classes to enumerate.
func (b *Enumerator) JointNets() [][]int {
	return list.Map(b.deferred, func(d *deferredGroup) []int { return d.nets })
}
