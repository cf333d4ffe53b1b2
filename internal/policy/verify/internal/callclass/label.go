package callclass

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate"
)

// label is one name of a call, with what is known of it.
type label struct {
	text    string
	from    source
	certain bool
	weak    bool
	glob    int // number of the pattern + 1 where text is a pattern
}

// source is a set of the ways by which a call came to a name.
type source uint8

const (
	fromTool source = 1 << iota
	fromAction
	fromMap
	fromGlob
)

func (l *label) actionOnly() bool { return l.from == fromAction }

// add appends l. A name that is there keeps its place; it is certain if any of
// its sources is, and weak only if all are.
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

// glob is a pattern over the names of a call.
type glob struct {
	pattern string
	except  string // a call that certainly carries this name is not matched
	literal bool   // except stands in quotes: an action of that name is another thing
	actions bool   // the pattern has a dot and so sees tool.action
}

// globRow is what a net says of the names that a pattern matches.
type globRow struct {
	glob
	number      int
	transitions []int
}

// match is the label that the pattern gives to a call with these names.
func (g *glob) match(names []label) (label, bool) {
	l := label{text: g.pattern, from: fromGlob, weak: true}
	found := false
	for i := range names {
		n := &names[i]
		other := g.literal && n.actionOnly() // an action is not what stands in quotes
		if g.except != "" && n.text == g.except && !other {
			if n.certain {
				return label{}, false
			}
			continue
		}
		if n.actionOnly() && !g.actions {
			continue
		}
		if matchGlob(g.pattern, n.text) {
			found = true
			l.certain = l.certain || n.certain
			l.weak = l.weak && n.weak
		}
	}
	return l, found
}

// matchGlob matches the whole of s: * is any run of characters, ? is one.
func matchGlob(pattern, s string) bool {
	star, mark, p, i := -1, 0, 0, 0
	for i < len(s) {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			i += size
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[mark:])
			mark += size
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// list fills the rows and the patterns of the net.
func (n *Net) list() {
	for _, name := range n.Info.Free {
		r := n.rows[name]
		r.free = true
		n.rows[name] = r
	}
	for i, t := range n.Info.Transitions {
		for _, tool := range t.Tools {
			n.listTool(i, tool)
		}
	}
}

func (n *Net) listTool(transition int, tool gate.Tool) {
	if tool.Kind == gate.Glob {
		g := glob{pattern: tool.Name, except: tool.Except, literal: n.literal(tool.Except), actions: strings.Contains(tool.Name, ".")}
		i := slices.IndexFunc(n.globs, func(r globRow) bool { return r.glob == g })
		if i < 0 {
			i = len(n.globs)
			n.globs = append(n.globs, globRow{glob: g, number: i})
		}
		if !slices.Contains(n.globs[i].transitions, transition) {
			n.globs[i].transitions = append(n.globs[i].transitions, transition)
		}
		return
	}
	r := n.rows[tool.Name]
	if tool.Kind == gate.Plain && !slices.Contains(r.plain, transition) {
		r.plain = append(r.plain, transition)
	}
	if !slices.Contains(r.exact, transition) {
		r.exact = append(r.exact, transition)
	}
	n.rows[tool.Name] = r
}

// literal reports whether the net knows name only in quotes.
func (n *Net) literal(name string) bool {
	found := false
	for _, t := range n.Info.Transitions {
		for _, tool := range t.Tools {
			if tool.Name == name && tool.Kind == gate.Plain {
				return false
			}
			found = found || tool.Name == name && tool.Kind == gate.Literal
		}
	}
	return found
}

// meaning is what a call with these names means to the net.
func (n *Net) meaning(ls []label) Meaning {
	var e Meaning
	spared := n.spared(ls)
	for i := range ls {
		a := n.ask(&ls[i])
		if len(spared) > 0 {
			a.Lists = slices.DeleteFunc(slices.Clone(a.Lists), func(t int) bool { return slices.Contains(spared, t) })
		}
		if a.Free || len(a.Lists) > 0 {
			e = append(e, a)
		}
	}
	return e
}

// ask is what one name means to the net, whatever exempts the call.
func (n *Net) ask(l *label) Ask {
	a := Ask{Weak: l.weak}
	if l.glob > 0 {
		for j := range n.globs {
			if n.globs[j].number == l.glob-1 {
				a.Lists = n.globs[j].transitions
			}
		}
		return a
	}
	r := n.rows[l.text]
	a.Free, a.Lists = r.free, r.exact
	if l.actionOnly() {
		a.Lists = r.plain
	}
	return a
}

// spared are the transitions that are none of the business of a call with these
// names, because one of them certainly exempts it.
func (n *Net) spared(ls []label) []int {
	var out []int
	for i := range n.Info.Transitions {
		exempts := func(u gate.Tool) bool {
			return slices.ContainsFunc(ls, func(l label) bool { return l.certain && l.glob == 0 && speaksOf(u, &l) })
		}
		if slices.ContainsFunc(n.Info.Transitions[i].Unless, exempts) {
			out = append(out, i)
		}
	}
	return out
}

// speaksOf reports whether the tool of a net is, or matches, the name.
func speaksOf(t gate.Tool, l *label) bool {
	switch t.Kind {
	case gate.Glob:
		return (strings.Contains(t.Name, ".") || !l.actionOnly()) && matchGlob(t.Name, l.text)
	case gate.Literal:
		return l.text == t.Name && !l.actionOnly()
	default:
		return l.text == t.Name
	}
}

// knows reports whether the net gates, or holds free, a certain one of ls; to
// observe it is not enough.
func (n *Net) knows(ls []label) bool {
	return slices.ContainsFunc(ls, func(l label) bool {
		a := n.ask(&l)
		return l.certain && (a.Free || !n.Observed(a.Lists))
	})
}
