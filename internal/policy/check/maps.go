package check

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A call that two maps match has both names and obeys the rules of both. That
// is as it should be where a command does two things, and where the narrower
// pattern has the stricter rules. Where it has the milder ones they do nothing.

// milder warns of maps whose calls all have a second name, by a wider map, that
// is treated more strictly.
func (v *Analysis) milder() diag.List {
	var ps diag.List
	for _, o := range v.report.Overlaps {
		for _, pair := range [][2]gate.Map{{o.First, o.Second}, {o.Second, o.First}} {
			narrow, wide := pair[0], pair[1]
			a, _ := v.strictness(narrow.As)
			b, by := v.strictness(wide.As)
			if a >= b || a == unlistedName || !within(narrow, wide, o.Text) {
				continue
			}
			ps = append(ps, Warning(codeMilder, diag.Position(narrow.Rule),
				fmt.Sprintf("what this names %s is %s too: %q matches both", narrow.As, wide.As, o.Text),
				fmt.Sprintf("%s (%s:%d) %s, and a call obeys the rules of all its names", wide.As, wide.Rule.File, wide.Rule.Line, by)))
		}
	}
	return ps
}

// strictness is how a name is treated, the strictest last.
type strictness uint8

const (
	unlistedName strictness = iota
	limited
	asking
	forbidden
)

func (v *Analysis) strictness(name string) (how strictness, by string) {
	i := slices.IndexFunc(v.names, func(n verify.Name) bool { return n.Tool.Name == name && n.Tool.Kind != gate.Glob })
	if i < 0 {
		return unlistedName, ""
	}
	if n := v.names[i]; n.Callable == verify.Impossible && v.lists(n.Because, name) {
		return forbidden, "can never be called, by " + byWhat(n)
	}
	for _, net := range v.policy.Nets() {
		for _, t := range net.Transitions {
			if t.Manual && Lists(t, name) {
				return asking, "needs approval, by " + cited(net.Name, net.Rule)
			}
		}
	}
	return limited, ""
}

// lists reports whether one of the nets lists the name.
func (v *Analysis) lists(nets []verify.Net, name string) bool {
	return slices.ContainsFunc(nets, func(n verify.Net) bool { return slices.Contains(listed(v.nets[n.Name]), name) })
}

// within reports whether text shows that narrow matches a part of what wide
// does: some part of the text is matched by wide alone, and none by narrow alone.
func within(narrow, wide gate.Map, text string) bool {
	if narrow.Match == nil || wide.Match == nil {
		return false
	}
	found := false
	for i := range text {
		for j := i + 1; j <= len(text); j++ {
			a, b := narrow.Match(text[i:j]), wide.Match(text[i:j])
			if a && !b {
				return false
			}
			found = found || b && !a
		}
	}
	return found
}
