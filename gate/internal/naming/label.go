package naming

import (
	"slices"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// A Label is one name of a call, with its sources.
type Label struct {
	Text    string
	Glob    int32 // number of the pattern + 1 where Text is a pattern
	From    Source
	Certain bool
	Weak    bool
	Near    bool // a map finds it for certain, and its success would be no evidence
}

// Source is the set of ways by which a call got a name.
type Source uint8

const (
	FromTool Source = 1 << iota
	FromAction
	FromMap
	FromGlob
)

// ActionOnly reports whether l is tool.action and nothing else besides.
func (l *Label) ActionOnly() bool { return l.From == FromAction }

// add appends l. A name that is there keeps its place; it is certain if any of
// its sources is, and weak only if all are.
func add(ls []Label, l Label) []Label {
	for i := range ls {
		if k := &ls[i]; k.Text == l.Text && k.Glob == l.Glob {
			k.From |= l.From
			k.Certain = k.Certain || l.Certain
			k.Weak = k.Weak && l.Weak
			return ls
		}
	}
	return append(ls, l)
}

// Merge adds all of more to ls. A name that is there keeps its place.
func Merge(ls, more []Label) []Label {
	for _, l := range more {
		ls = add(ls, l)
	}
	return ls
}

// Names returns ls for callers of the gate. Two versions of a pattern are one name.
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
