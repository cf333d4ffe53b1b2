package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/rules"
)

// checkNear warns about names that resemble other names in the policy, and about patterns that
// almost match a name. If the tools are known, checkNear does nothing, because unknown names are
// reported instead.
func (b *builder) checkNear() {
	if b.source.Tools != nil || b.invalid {
		return
	}
	v := &vocabulary{builder: b, byText: make(map[string]*spelling)}
	v.collect()
	for i, s := range v.all {
		switch {
		case len(s.uses) == 0 || v.findProblem(UnknownClaimed, s.uses[0].Pos) != nil:
		case s.pattern:
			v.checkMissed(s)
		default:
			v.checkSpelling(i)
		}
	}
}

// checkSpelling warns if v.all[i] may be a misspelling of another name.
func (v *vocabulary) checkSpelling(i int) {
	s := v.all[i]
	for j, other := range v.all {
		l, word := likenessOf(s.words, other.words)
		if l == unlike || j == i || other.pattern || !v.misspells(s, other, l, i > j) || s.intended(other) || areAgents(s.text, other.text) {
			continue
		}
		isOwn := func(o *spelling) bool { return o != s && slices.Contains(o.words, word) }
		if l != joined && !other.idle && slices.ContainsFunc(v.all, isOwn) {
			continue // the word also occurs in other names
		}
		first := s.uses[0]
		msg, hint := fmt.Sprintf("%s is a different name from %s (%s)", first, other.text, other.place()), fmt.Sprintf("did you mean %q?", other.text)
		switch {
		case len(s.uses) == len(other.uses) && other.given == gate.Position{}:
			hint = "use the same spelling if you mean the same call"
		case other.idle:
			msg = fmt.Sprintf("no map defines the name %s; the map at %s defines %s, which no rule uses", first, other.given, other.text)
			v.retract(rules.UnusedLabel, other.given)
		}
		v.addProblem(first, problem(diag.Warning, NearName, first.Pos, msg, hint))
		return
	}
}

// areAgents reports whether agents have tools with both names. For example, "createFile" and
// "create_file" are tools of the same agent.
func areAgents(a, b string) bool {
	own := agenttool.Names()
	return slices.Contains(own, a) && slices.Contains(own, b)
}

// misspells reports whether s is probably a misspelling of other. This depends on how similar the
// two names are, how often each of them is used, and which of them occurs later. A name that map
// statements or map entries assign is never considered a misspelling.
func (v *vocabulary) misspells(s, other *spelling, l likeness, later bool) bool {
	given := func(s *spelling) bool { return s.given != gate.Position{} }
	fewer := len(s.uses) < len(other.uses) || len(s.uses) == len(other.uses) && later
	switch {
	case given(s) || strings.EqualFold(s.text, other.text): // other checks report such names
		return false
	case other.idle:
		return true
	case l == joined:
		return !given(other) && fewer && len(Owners(v.source.Config)) < 2
	case l == slip:
		return given(other) || fewer
	case l == similar:
		return len(s.uses) == 1 && (given(other) || len(other.uses) > 1)
	}
	return false
}

// intended reports whether the two names are clearly meant to be different. This is the case if
// they occur in the same statement or list, or in two statements that are otherwise equal.
func (s *spelling) intended(other *spelling) bool {
	return slices.ContainsFunc(s.uses, func(u occurrence) bool {
		return slices.ContainsFunc(other.uses, func(o occurrence) bool {
			return u.list == o.list || u.form != "" && u.form == o.form
		})
	})
}

// place returns the position for a warning about the name. This is the position of the first map
// statement or map entry that assigns the name. If nothing assigns the name, it is the position of
// the first use.
func (s *spelling) place() gate.Position {
	if s.given != (gate.Position{}) {
		return s.given
	}
	return s.uses[0].Pos
}

// checkMissed warns about a pattern such as "pay_*" if no name matches it but a rule names "pay".
func (v *vocabulary) checkMissed(s *spelling) {
	bare := strings.TrimRight(s.text, "*")
	bare = strings.TrimRight(bare, "_-")
	if len(bare) == len(s.text) || s.text != bare+"_*" && s.text != bare+"-*" || isPattern(bare) {
		return
	}
	matches := func(o *spelling) bool { return !o.pattern && toolnet.MatchGlob(s.text, o.text) }
	if slices.ContainsFunc(v.all, matches) {
		return
	}
	for _, other := range v.all {
		if other.text == bare && other.given == (gate.Position{}) && len(other.uses) > 0 && !s.intended(other) {
			first := s.uses[0]
			v.addProblem(first, problem(diag.Warning, MissedName, first.Pos, fmt.Sprintf("the pattern %s does not match %s (%s)", first, bare, other.place()),
				fmt.Sprintf("to match both, write: %s, %s", bare, first)))
		}
	}
}
