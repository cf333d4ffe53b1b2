package naming

import (
	"slices"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// A Label is one name of a call, with its sources.
type Label struct {
	Text    string
	Glob    int32 // 1 + number of the pattern if Text is a pattern, otherwise 0
	From    Source
	Certain bool
	Weak    bool
	Near    bool // a map matches for certain, but the success of the call would not be evidence
}

// Source is the set of reasons why a call has a name.
type Source uint8

const (
	FromTool Source = 1 << iota
	FromAction
	FromMap
	FromGlob
)

// ActionOnly reports whether tool.action is the only source of l.
func (l *Label) ActionOnly() bool { return l.From == FromAction }

// add adds l to ls. If ls already contains the name, its entry is merged in place: the name is
// certain if any of its sources is, and weak only if all of them are.
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

// Merge adds all labels of more to ls; see add.
func Merge(ls, more []Label) []Label {
	for _, l := range more {
		ls = add(ls, l)
	}
	return ls
}

// Names converts labels to names for callers of the gate. Variants of one pattern become one name.
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
