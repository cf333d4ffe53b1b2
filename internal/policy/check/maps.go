package check

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// Map statements in rules and map entries in nets assign names to calls; both are called maps here.
// If a call matches two maps, it gets both names, and the rules for both apply to it. If the map
// with the narrower pattern has the weaker rules, these rules have no effect.

// milder warns about a map that has no effect. The map assigns a name with weak rules, but a wider
// map assigns a name with stricter rules to the same calls.
func (v *Analysis) milder() diag.List {
	var ps diag.List
	treated := v.treatments()
	for _, o := range v.report.Overlaps {
		for _, pair := range [][2]gate.Map{{o.First, o.Second}, {o.Second, o.First}} {
			narrow, wide := pair[0], pair[1]
			a, b := treated[narrow.As], treated[wide.As]
			if a.how >= b.how || a.how == unlistedName || !within(narrow, wide, o.Text) {
				continue
			}
			ps = append(ps, Warning(codeMilder, diag.Position(narrow.Rule),
				fmt.Sprintf("a call that gets the name %s here can also be %s: %q matches both", narrow.As, wide.As, o.Text),
				fmt.Sprintf("%s (%s:%d) %s, and a call obeys the rules of all its names", wide.As, wide.Rule.File, wide.Rule.Line, b.by)))
		}
	}
	return ps
}

// A strictness tells how strictly the policy decides on calls with a given name. Higher values are
// stricter.
type strictness uint8

const (
	unlistedName strictness = iota
	limited
	asking
	forbidden
)

// A treatment describes how strictly the policy decides on calls with a given name, and why.
type treatment struct {
	how strictness
	by  string
}

// treatments describes how the policy treats calls with each name. It omits names that are
// patterns.
func (v *Analysis) treatments() map[string]treatment {
	asks := make(map[string]verify.Net)
	for _, net := range v.policy.Nets() {
		for _, t := range net.Transitions {
			for _, tool := range t.Tools {
				if _, known := asks[tool.Name]; t.Manual && !known {
					asks[tool.Name] = verify.Net{Name: net.Name, Rule: net.Rule}
				}
			}
		}
	}
	treated := make(map[string]treatment)
	for _, n := range v.names {
		name := n.Tool.Name
		if _, known := treated[name]; known || n.Tool.Kind == gate.Glob {
			continue
		}
		net, asked := asks[name]
		switch {
		case n.Callable == verify.Impossible && v.nets.lists(n.Because, name):
			treated[name] = treatment{forbidden, "can never be called, by " + byWhat(n)}
		case asked:
			treated[name] = treatment{asking, "needs approval, by " + cited(net.Name, net.Rule)}
		default:
			treated[name] = treatment{how: limited}
		}
	}
	return treated
}

// lists reports whether any of the given nets lists the name.
func (ns netInfos) lists(nets []verify.Net, name string) bool {
	return slices.ContainsFunc(nets, func(n verify.Net) bool { return slices.Contains(listed(ns[n.Name]), name) })
}

// within reports whether the first map statement is probably narrower than the second. A narrower
// statement matches only strings that the wider one matches, but not all of them. within tries only
// the substrings of text, a string that both statements should match.
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
