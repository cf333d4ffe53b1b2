package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// deadTransitions reports transitions of hand-written nets that never fire although their tools can
// be called. Tools that cannot be called are reported separately. Nets generated from rules are not
// checked, because they contain such transitions intentionally.
func (v *Analysis) deadTransitions() diag.List {
	var ps diag.List
	for _, n := range v.written {
		for _, name := range v.dead[n.Name] {
			t := transitionOf(v.nets[n.Name], name)
			if slices.ContainsFunc(t.Tools, v.impossible) {
				continue
			}
			p := Warning(codeDead, v.written.transitionAt(n.Name, name), fmt.Sprintf("transition %q can never fire", name), "it needs "+v.needs(n.Name, t))
			p.Net = n.Name
			ps = append(ps, p)
		}
	}
	return ps
}

func (v *Analysis) impossible(tool gate.Tool) bool {
	return slices.ContainsFunc(v.names, func(n verify.Name) bool {
		return n.Tool.Name == tool.Name && n.Callable == verify.Impossible
	})
}

// whyDead describes the transitions that would admit calls with the given name but can never fire,
// and the tokens that they need.
func (v *Analysis) whyDead(name string, nets []verify.Net) string {
	var b strings.Builder
	for _, n := range nets {
		for _, dead := range v.dead[n.Name] {
			t := transitionOf(v.nets[n.Name], dead)
			if Lists(t, name) {
				fmt.Fprintf(&b, "  %s of %s can never fire: it needs %s\n", v.written.transition(n.Name, dead), n.Name, v.needs(n.Name, t))
			}
		}
	}
	return b.String()
}

// needs describes the input places that keep a transition dead. These are the places that are empty
// at the start and that no transition can fill. If there are no such places, needs describes all
// input places, because they never hold enough tokens at the same time.
func (v *Analysis) needs(net string, t gate.Transition) string {
	info := v.nets[net]
	empty := list.Filter(t.Inputs, func(place string) bool {
		return info.Initial[place] == 0 && !slices.ContainsFunc(info.Transitions, func(u gate.Transition) bool {
			return !slices.Contains(v.dead[net], u.Name) && slices.Contains(u.Outputs, place)
		})
	})
	if len(empty) > 0 {
		return "a token in " + text.And(list.Add(nil, empty...)) + ", which never gets one"
	}
	return Lacking(t, gate.NetState{}) + " at once, which never happens"
}
