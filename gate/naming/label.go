package naming

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// A Label is one of a call's names, together with its sources and its certainty.
type Label struct {
	Text    string
	Glob    int32 // one plus the index of the pattern in the policy, if the name is a pattern; otherwise 0
	From    Source
	Certain bool
	Weak    bool
	Near    bool // whether a map statement (see [toolnet.Map]) is certain to match, but the call's success does not meet a requirement for the name
}

// Source is a set of reasons why a call has a name.
type Source uint8

const (
	FromTool Source = 1 << iota
	FromAction
	FromMap
	FromGlob
)

// Add adds l to ls. If ls already contains the name, Add merges the two labels in place. The merged
// label is Certain if either label is Certain. It is Weak only if both labels are Weak; the call's
// success then does not count for the name. It is Near only if it is Weak and either label is Near.
func Add(ls []Label, l Label) []Label {
	for i := range ls {
		if k := &ls[i]; k.Text == l.Text && k.Glob == l.Glob {
			k.From |= l.From
			k.Certain = k.Certain || l.Certain
			k.Weak = k.Weak && l.Weak
			k.Near = k.Weak && (k.Near || l.Near)
			return ls
		}
	}
	return append(ls, l)
}

// Merge adds all labels of the second list to the first, as described for [Add].
func Merge(ls, more []Label) []Label {
	for _, l := range more {
		ls = Add(ls, l)
	}
	return ls
}

// Names converts labels to names. It omits a pattern that has the same text as an earlier name.
func Names(ls []Label) []toolnet.Name {
	out := make([]toolnet.Name, 0, len(ls))
	for i := range ls {
		l := &ls[i]
		same := func(n toolnet.Name) bool { return n.Text == l.Text }
		if l.Glob > 0 && slices.ContainsFunc(out, same) {
			continue
		}
		out = append(out, toolnet.Name{Text: l.Text, Certain: l.Certain, Weak: l.Weak})
	}
	return out
}

// A Pattern is a glob that matches call names.
type Pattern struct {
	Text    string
	Except  string // name that the pattern excludes; a call that is certain to have this name does not match; may be empty
	Literal bool   // whether Except is quoted, so that it never excludes a name that comes only from the call's action argument
	Actions bool   // whether the pattern contains a dot and therefore applies to names of the form tool.action
}

// NewPattern returns the pattern for a [toolnet.Tool] of kind Glob. It does not set Literal, which
// depends on the net's other tools.
func NewPattern(t toolnet.Tool) Pattern {
	return Pattern{Text: t.Name, Except: t.Except, Actions: strings.Contains(t.Name, ".")}
}

// appliesTo reports whether the pattern g should be compared with the label l.
func (g *Pattern) appliesTo(l *Label) bool {
	if l.From == FromAction && !g.Actions {
		return false
	}
	return g.Except == "" || l.Text != g.Except || g.Literal && l.From == FromAction
}

// exempts reports whether the name l exempts the call from the pattern g: the pattern excludes the
// name, and the call is certain to have it. If g.Literal is set, a name that comes only from the
// call's action argument does not exempt the call.
func (g *Pattern) exempts(l *Label) bool {
	return g.Except != "" && l.Certain && l.Text == g.Except && !(g.Literal && l.From == FromAction)
}

// Exempts reports whether u matches any name in ls that the call is certain to have.
func Exempts(u *toolnet.Tool, ls []Label) bool {
	return slices.ContainsFunc(ls, func(l Label) bool { return l.Certain && Matches(u, &l) })
}

// Matches reports whether the tool u matches the label l. It never matches a label that is a
// pattern, because a pattern is not a name.
func Matches(u *toolnet.Tool, l *Label) bool {
	if l.Glob > 0 {
		return false
	}
	switch u.Kind {
	case toolnet.Glob:
		return (strings.Contains(u.Name, ".") || l.From != FromAction) && toolnet.MatchGlob(u.Name, l.Text)
	case toolnet.Literal:
		return l.Text == u.Name && l.From != FromAction
	default:
		return l.Text == u.Name
	}
}

// match reports whether the pattern g matches a call with the given names. If so, it also returns
// the label that the call gets.
func (g *Pattern) match(names []Label) (Label, bool) {
	l := Label{Text: g.Text, From: FromGlob, Weak: true}
	found := false
	for i := range names {
		n := &names[i]
		if g.exempts(n) {
			return Label{}, false
		}
		if g.appliesTo(n) && toolnet.MatchGlob(g.Text, n.Text) {
			found = true
			l.Certain = l.Certain || n.Certain
			l.Weak = l.Weak && n.Weak
		}
	}
	return l, found
}
