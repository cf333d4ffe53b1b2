package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// A label is a name of a call, with its properties.
type label struct {
	text    string
	from    source
	certain bool
	weak    bool
	glob    int // 1 + index of the pattern if text is a pattern; 0: text is a name
}

// A source is a set of ways to acquire a name.
type source uint8

const (
	fromTool source = 1 << iota
	fromAction
	fromMap
	fromGlob
)

func (l *label) actionOnly() bool { return l.from == fromAction }

// add appends l to ls. A name that is already listed keeps its place; it is certain if any of its
// sources is, and weak only if all are.
func add(ls []label, l label) []label {
	for i := range ls {
		if k := &ls[i]; k.text == l.text && k.glob == l.glob {
			k.from |= l.from
			k.certain = k.certain || l.certain
			k.weak = k.weak && l.weak
			return ls
		}
	}
	return append(ls, l)
}

// match returns the label that g gives to a call with the given names. The result is false if g
// does not match the call.
func (g *glob) match(names []label) (label, bool) {
	l := label{text: g.pattern, from: fromGlob, weak: true}
	found := false
	for i := range names {
		n := &names[i]
		other := g.literal && n.actionOnly() // a quoted name does not denote an action
		if g.except != "" && n.text == g.except && !other {
			if n.certain {
				return label{}, false
			}
			continue
		}
		if n.actionOnly() && !g.actions {
			continue
		}
		if toolnet.MatchGlob(g.pattern, n.text) {
			found = true
			l.certain = l.certain || n.certain
			l.weak = l.weak && n.weak
		}
	}
	return l, found
}

// patterned returns the names followed by the patterns that match them.
func patterned(names []label, globs []glob) []label {
	ls := names[:len(names):len(names)]
	for i := range globs {
		if l, ok := globs[i].match(names); ok {
			l.glob = i + 1
			ls = append(ls, l)
		}
	}
	return ls
}

// meaning returns the meaning that a call with these names has in n.
func (n *Net) meaning(ls []label) Meaning {
	var e Meaning
	spared := n.spared(ls)
	for i := range ls {
		a := n.ask(&ls[i])
		if len(spared) > 0 {
			a.Transitions = slices.DeleteFunc(slices.Clone(a.Transitions), func(t int) bool { return slices.Contains(spared, t) })
		}
		if a.Free || len(a.Transitions) > 0 {
			e = append(e, n.separateSpoilers(a))
		}
	}
	if barred := n.barred(ls); len(barred) > 0 {
		e = append(e, Ask{Barred: barred})
	}
	return e
}

// barred returns the indexes of the places whose phases do not admit a call with these names.
func (n *Net) barred(ls []label) []int {
	var places []int
	for _, phase := range n.Info.Phases {
		if !allows(phase, ls) {
			places = include(places, n.Place[phase.Place])
		}
	}
	return places
}

// allows reports whether the phase lists a certain name of the call.
func allows(p gate.Phase, ls []label) bool {
	return slices.ContainsFunc(ls, func(l label) bool {
		return l.certain && l.glob == 0 && slices.ContainsFunc(p.Tools, func(t gate.Tool) bool { return matchesName(t, &l) })
	})
}

// separateSpoilers moves the spoiling transitions to a list of their own.
func (n *Net) separateSpoilers(a gate.Asked) Ask {
	spoils := func(t int) bool { return n.Info.Transitions[t].Spoils }
	if !slices.ContainsFunc(a.Transitions, spoils) {
		return Ask{Asked: a}
	}
	out := Ask{Asked: a}
	out.Transitions = nil
	for _, t := range a.Transitions {
		if spoils(t) {
			out.Spoilers = append(out.Spoilers, t)
		} else {
			out.Transitions = append(out.Transitions, t)
		}
	}
	return out
}

// ask returns the meaning that a single name has in n, ignoring exemptions.
func (n *Net) ask(l *label) gate.Asked {
	a := gate.Asked{Weak: l.weak}
	if l.glob > 0 {
		if i := slices.Index(n.numbers, l.glob-1); i >= 0 {
			a.Transitions = n.matched[i]
		}
		return a
	}
	r := n.rows[l.text]
	a.Free, a.Transitions = r.free, r.exact
	if l.actionOnly() {
		a.Transitions = r.plain
	}
	return a
}

// spared returns the transitions that a call with these names is certainly exempt from.
func (n *Net) spared(ls []label) []int {
	return n.exempting(ls, func(gate.Tool) bool { return true })
}

// exempting returns the transitions with an exemption that is selected by of and certainly applies
// to a call with these names.
func (n *Net) exempting(ls []label, of func(gate.Tool) bool) []int {
	var out []int
	for i := range n.Info.Transitions {
		exempts := func(u gate.Tool) bool {
			return of(u) && slices.ContainsFunc(ls, func(l label) bool { return l.certain && l.glob == 0 && matchesName(u, &l) })
		}
		if slices.ContainsFunc(n.Info.Transitions[i].Unless, exempts) {
			out = append(out, i)
		}
	}
	return out
}

// matchesName reports whether the tool in a rule equals or matches the name.
func matchesName(t gate.Tool, l *label) bool {
	switch t.Kind {
	case gate.Glob:
		return (strings.Contains(t.Name, ".") || !l.actionOnly()) && toolnet.MatchGlob(t.Name, l.text)
	case gate.Literal:
		return l.text == t.Name && !l.actionOnly()
	default:
		return l.text == t.Name
	}
}

// knows reports whether n gates, or declares free, a certain name of ls. Observing a name is not
// enough.
func (n *Net) knows(ls []label) bool {
	out := n.exempting(ls, func(u gate.Tool) bool { return u.Spared })
	return slices.ContainsFunc(ls, func(l label) bool {
		a := n.ask(&l)
		return l.certain && (a.Free || slices.ContainsFunc(a.Transitions, func(t int) bool { return !n.Info.Transitions[t].Observe && !slices.Contains(out, t) }))
	}) || slices.ContainsFunc(n.Info.Phases, func(p gate.Phase) bool { return allows(p, ls) })
}
