package gate

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// spared returns the transitions whose Unless certainly exempts a call with these
// names.
func (n *net) spared(ls []label) []int {
	if !n.spares {
		return nil
	}
	var spared []int
	for t := range n.Transitions {
		if slices.ContainsFunc(n.Transitions[t].Unless, func(u Tool) bool { return exempts(&u, ls) }) {
			spared = append(spared, t)
		}
	}
	return spared
}

// exempts reports whether one of the names is certain and is, or matches, u.
func exempts(u *Tool, ls []label) bool {
	return slices.ContainsFunc(ls, func(l label) bool { return l.certain && l.glob == 0 && matches(u, &l) })
}

// matches reports whether u is, or matches, l.
func matches(u *Tool, l *label) bool {
	switch u.Kind {
	case Glob:
		g := glob{pattern: u.Name, actions: strings.Contains(u.Name, ".")}
		return g.sees(l) && toolnet.MatchGlob(u.Name, l.text)
	case Literal:
		return l.text == u.Name && !l.actionOnly()
	default:
		return l.text == u.Name
	}
}

// without returns lists without the exempt transitions.
func without(lists, spared []int) []int {
	if len(spared) == 0 {
		return lists
	}
	return slices.DeleteFunc(slices.Clone(lists), func(t int) bool { return slices.Contains(spared, t) })
}
