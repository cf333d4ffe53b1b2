package gate

import (
	"math/bits"

	"github.com/petrigate/petrigate/gate/internal/naming"
)

// index finds the nets that a call can be about, so that the others cost nothing.
type index struct {
	byName map[string][]int // nets that list a name, or map its tool
	byGlob [][]int          // nets, by the number of the pattern
	always []int            // nets with names or patterns of their own, and those that every call concerns
	words  int              // of a set of nets
}

func newIndex(g *naming.Naming, nets []*net) index {
	x := index{byName: make(map[string][]int), byGlob: make([][]int, len(g.Patterns())), words: (len(nets) + 63) / 64}
	for _, n := range nets {
		tools, patterns := n.own.Maps.Tools()
		if n.Labels == nil && (n.Mapper != nil || len(n.globs) > 0 || patterns) || n.Row || len(n.Phases) > 0 {
			x.always = append(x.always, n.index)
			continue
		}
		for name := range n.rows {
			x.byName[name] = append(x.byName[name], n.index)
		}
		for _, tool := range tools {
			x.byName[tool] = append(x.byName[tool], n.index)
		}
		for i := range n.globs {
			number := n.globs[i].number
			x.byGlob[number] = append(x.byGlob[number], n.index)
		}
	}
	return x
}

// netSet is a set of nets by their index.
type netSet []uint64

func (s netSet) add(nets []int) {
	for _, n := range nets {
		s[n/64] |= 1 << (n % 64)
	}
}

// size returns how many nets there are.
func (s netSet) size() (n int) {
	for _, nets := range s {
		n += bits.OnesCount64(nets)
	}
	return n
}

// concerned adds the nets that the call can be about to an empty set.
func (x *index) concerned(ls []naming.Label, s netSet) {
	s.add(x.always)
	for i := range ls {
		if ls[i].Glob > 0 {
			s.add(x.byGlob[ls[i].Glob-1])
		} else {
			s.add(x.byName[ls[i].Text])
		}
	}
}
