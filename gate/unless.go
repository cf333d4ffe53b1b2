package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/naming"
)

// spared returns the transitions whose Unless certainly exempts a call with these
// names.
func (n *net) spared(ls []naming.Label) []int {
	if !n.spares {
		return nil
	}
	return n.findSpared(ls)
}

func (n *net) findSpared(ls []naming.Label) (spared []int) {
	for t := range n.Transitions {
		if slices.ContainsFunc(n.Transitions[t].Unless, func(u Tool) bool { return naming.Exempts(&u, ls) }) {
			spared = append(spared, t)
		}
	}
	return spared
}

// without returns lists without the exempt transitions.
func without(lists, spared []int) []int {
	if len(spared) == 0 {
		return lists
	}
	return deleted(lists, func(t int) bool { return slices.Contains(spared, t) })
}

// deleted returns lists without what is out; it does not change it.
func deleted(lists []int, out func(t int) bool) []int {
	if !slices.ContainsFunc(lists, out) {
		return lists
	}
	return slices.DeleteFunc(slices.Clone(lists), out)
}
