package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/text"
)

// check finds errors and warnings about well-formed statements that require looking at several
// lines.
func (c *compiler) check() {
	for _, s := range c.statements {
		c.checkNames(s)
		c.checkMisleading(s)
		c.checkFields(s)
		c.checkExpressions(s)
		switch s := s.(type) {
		case *Require:
			c.checkRequire(s)
			c.checkUnless(s, &s.Rule, s.Before)
		case *Approve:
			c.checkUntil(s.After, s.Until)
			c.checkUnless(s, &s.Rule, s.Before)
		case *Block:
			c.checkUntil(s.After, s.Until)
			c.checkLocked(s.Tools, s.Until)
			c.checkUnless(s, &s.Rule, s.Tools)
		case *Limit:
			c.checkLimit(s)
			c.checkBudgets(s)
			c.checkUnless(s, &s.Rule, s.Tools)
		case *Allow:
			c.checkCertain(s, s.Tools)
		}
	}
	c.checkParts()
	c.checkMaps()
	c.checkExamples()
	c.checkLimits()
	c.checkShadows()
}

func (c *compiler) checkNames(s Statement) {
	names := s.names()
	switch s := s.(type) {
	case *Map:
		names = append(slices.Clone(s.Tools), s.As)
	case *Success:
		names = s.Tools
	case *Example:
		names = append(slices.Clone(s.Tools), s.As)
	case *Prove:
		names = s.allNames()
	}
	for _, n := range names {
		if r, ok := invisible(n.Text); ok {
			c.warnName(n, InvisibleChar, "", "the name contains the invisible character %U", r)
		}
		if before, after, ok := strings.Cut(n.Text, ","); ok && !n.Quoted {
			c.warnName(n, KeywordLike, fmt.Sprintf("write two names with a space: %s, %s; quote it to keep it as it is", before, after), "%s is one name", n)
		}
		if strings.Contains(n.Text, "${") && !n.Quoted {
			c.warnName(n, KeywordLike, "write the name out, or quote it to keep it as it is", "rules do not replace ${...}")
		}
	}
}

// invisible returns the first invisible character of a string.
func invisible(s string) (rune, bool) {
	for _, r := range s {
		if isInvisible(r) {
			return r, true
		}
	}
	return 0, false
}

func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r == '\u2800' // the blank Braille pattern
}

func (c *compiler) checkRequire(s *Require) {
	if n := s.pairs(); n > maxPairs {
		first := s.Before[maxPairs*len(s.Before)/n] // the first name beyond the limit
		c.failName(s, first, ManyPairs, "write a pattern, such as git_*, for names that belong together",
			"the lists make a net for each of %d pairs, and one statement may make %d", n, maxPairs)
		return
	}
	for _, before := range s.Before {
		c.checkPairs(s, before)
	}
	for _, first := range s.First {
		if !first.Quoted && likeApproval(first.Text) {
			c.warnName(first, KeywordLike, `write human-approval to ask a person`, "the call %s is required, not the approval of a person", first)
		}
		c.checkEvidence(first, "unlocks "+joinNames(s.Before))
		c.checkSince(s, first, "%s is one of %s: its call takes its own success away, and %s stays locked", joinNames(s.Before))
	}
	own := "%s is one of %s: each call of %s needs a success of its own anyway"
	if s.Once {
		own = "%s is one of %s: each call of %s takes the success away, so that once changes nothing"
	}
	for _, before := range s.Before {
		c.checkSince(s, before, own, before.String())
	}
}

// checkPairs checks a call that waits against the calls that it waits for.
func (c *compiler) checkPairs(s *Require, before Name) {
	var own []Name // names whose every call is one of before, and so waits itself
	for _, first := range s.First {
		// A call that is exempt passes, and its success counts.
		is := len(s.Unless) == 0 && (first.same(before) || !before.Glob() && c.isOneOf(first, before))
		itself := is || c.onlyAs(first, before) && !c.labels.excludes(first, before) || c.alsoAs(first, before)
		if !itself || s.exempts(first) {
			continue
		}
		if own = append(own, first); !s.Or {
			c.warnLocked(s, before, first)
		}
	}
	if s.Or && len(own) == len(s.First) {
		c.warnLocked(s, before, own...)
	}
}

// warnLocked warns that a call can never pass, because every call that would unlock it must wait
// itself.
func (c *compiler) warnLocked(s *Require, before Name, own ...Name) {
	switch names := text.Join(nameTexts(own), "or"); {
	case len(own) == 1 && own[0].same(before):
		c.warn(s, SelfRequire, "name the call that has to succeed first", "%s is required before itself, so that no call of it ever passes", before)
	case slices.ContainsFunc(own, before.same):
		c.warn(s, SelfRequire, "name a call that has to succeed first", "every call of %s is a call of %s, so that none ever passes", names, before)
	default:
		c.warn(s, Locked, "", "%s stays locked: every call that is named %s is itself a call of %s", before, names, before)
	}
}

// onlyAs reports whether maps give the name, and only to calls of b.
func (c *compiler) onlyAs(n, b Name) bool {
	other := func(m *Map) bool {
		if m.tool().Glob() {
			return b.Text != "*" && !b.same(m.tool())
		}
		return !b.Matches(m.tool().Text)
	}
	maps := c.labels.maps[n.Text]
	return len(maps) > 0 && !slices.ContainsFunc(maps, other)
}

// excludes reports whether the pattern excludes calls that certainly have the name by a map. Such
// calls do not wait, see [Require.waitingCall].
func (l *labels) excludes(n, pattern Name) bool {
	return pattern.Glob() && slices.ContainsFunc(l.maps[n.Text], (*Map).exempts)
}

// alsoAs reports whether maps give the first name only to calls that also get the other name.
func (c *compiler) alsoAs(n, other Name) bool {
	return n.Text != other.Text && c.labels.maps[n.Text] != nil && c.labels.maps[other.Text] != nil && c.covers(other, n)
}

// checkSince warns of a call that cancels the success that it earns or uses.
func (c *compiler) checkSince(s *Require, n Name, format, last string) {
	for _, spoiler := range s.Since {
		if c.isOneOf(n, spoiler) {
			c.warnName(spoiler, SelfSpoil, "", format, n, spoiler, last)
		}
	}
}

// isOneOf reports whether every call of n is a call of other.
func (c *compiler) isOneOf(n, other Name) bool {
	return n.same(other) || c.covers(other, n) || other.Glob() && !n.Glob() && other.Matches(n.Text)
}

// checkUntil warns of a rule whose first and last calls are the same.
func (c *compiler) checkUntil(after, until []Name) {
	for _, n := range until {
		if slices.ContainsFunc(after, n.same) {
			c.warnName(n, EndsItself, "", "%s begins what it ends", n)
		}
	}
}

// checkLocked warns if the call that would end the rule is itself blocked by the rule.
func (c *compiler) checkLocked(blocked, until []Name) {
	for _, n := range until {
		for _, b := range blocked {
			if !b.Glob() && c.isOneOf(n, b) {
				c.warnName(n, EndsItself, "name another call after until, or leave until out", "%s is blocked, so that it never ends what blocks it", n)
			}
		}
	}
}

// likeApproval reports whether a name looks like the keyword human-approval.
func likeApproval(name string) bool {
	return slices.Contains([]string{"approval", "approve", "approved", "human", "person", "confirmation"}, strings.ToLower(name)) ||
		text.Nearest(name, []string{"human-approval"}) != ""
}

// exempts reports whether the rule exempts calls with this name.
func (r *Rule) exempts(n Name) bool {
	return slices.ContainsFunc(r.Unless, func(u Name) bool { return u.Matches(n.Text) })
}

// checkUnless checks the exemptions of a rule about calls of tools.
func (c *compiler) checkUnless(s Statement, r *Rule, tools []Name) {
	c.checkCertain(s, r.Unless)
	for _, n := range r.Unless {
		for _, tool := range tools {
			// A call that gets a name by a map may have it only possibly, and other tools can have
			// the same name.
			if c.labels.maps[n.Text] == nil && c.labels.maps[tool.Text] == nil && (n.same(tool) || c.covers(n, tool)) {
				c.warnName(n, AllExempt, "", "every call of %s is exempt, so the rule applies to none", tool)
			}
		}
	}
}

// checkCertain refuses names that count only if a call certainly has them, but that no call
// certainly has.
func (c *compiler) checkCertain(s Statement, names []Name) {
	for _, n := range names {
		maps := c.labels.maps[n.Text]
		if i := slices.IndexFunc(maps, func(m *Map) bool { return !m.exempts() }); i >= 0 && !n.Glob() {
			why, hint := maps[i].doubt()
			c.failName(s, n, WeakExemption, hint, "no call is certainly %s: the map at %s %s", n, maps[i].Pos, why)
		}
	}
}

// certain reports whether the name that the map gives can be evidence of what a call does.
func (m *Map) certain() bool { return m.Pattern.Kind == Runs && !m.many() }

// exempts reports whether the map can give a name with certainty: for a script, or for an
// expression that is true without an error.
func (m *Map) exempts() bool { return m.certain() || m.Pattern.Kind == When }

// many reports whether the map reads several values. Then none of them is evidence.
func (m *Map) many() bool {
	if !isPath(m.Field) {
		return false
	}
	p, err := toolnet.ParsePath(m.Field)
	return err == nil && p.Many()
}

// doubt returns the reason why the map gives no certain name, and a hint.
func (m *Map) doubt() (why, hint string) {
	switch {
	case m.Pattern.Kind.script() && m.Pattern.Kind != Runs:
		return "looks for files", "use runs, which looks for commands"
	case m.many():
		return "reads several values", "name one of them in the path"
	case !m.isCommand():
		return "searches a text", "use an expression: " + m.expression()
	default:
		return "searches a text", "use runs, which reads the field as a script"
	}
}

// covers reports whether every call of b is a call of a: the names are equal, b is an action of the
// tool a, or b is a label that only calls of a get.
func (c *compiler) covers(a, b Name) bool {
	if a.Glob() || b.Glob() {
		return false
	}
	if a.Text == b.Text && (!a.Quoted || !strings.Contains(b.Text, ".")) {
		return true
	}
	if !b.Quoted && strings.HasPrefix(b.Text, a.Text+".") && !strings.Contains(a.Text, ".") {
		return true
	}
	maps := c.labels.maps[b.Text]
	for _, m := range maps {
		if (m.tool().Text != a.Text || m.tool().Glob()) && !c.alsoLabels(m, a.Text) {
			return false
		}
	}
	return len(maps) > 0
}

// alsoLabels reports whether another map gives the label to all calls that m matches.
func (c *compiler) alsoLabels(m *Map, label string) bool {
	return slices.ContainsFunc(c.labels.maps[label], func(other *Map) bool {
		return other.tool().Text == m.tool().Text && other.Field == m.Field && other.Pattern.includes(m.Pattern)
	})
}

// includes reports whether p matches whenever q does: both are equal, or q is the same command with
// more words.
func (p Pattern) includes(q Pattern) bool {
	if p.Kind != Runs || q.Kind != Runs {
		return p.String() == q.String()
	}
	words := p.command()
	if words[0] != q.Words[0] {
		return false
	}
	found := 0
	for _, w := range q.Words {
		if found < len(words) && w == words[found] {
			found++
		}
	}
	return found == len(words)
}

// checkEvidence warns if a text containing a word counts as evidence of a call: "echo cp" copies
// nothing.
func (c *compiler) checkEvidence(n Name, effect string) {
	m := c.labels.firstWeak(n)
	if m == nil {
		return
	}
	switch m.Pattern.Kind {
	case When:
		c.warnName(n, WeakEvidence, "prefer a separate tool", "any %s call for which %s is true %s", m.tool(), quote(m.Pattern.Text), effect)
	case Reads, Writes:
		c.warnName(n, WeakEvidence, "use runs, which looks for a command", "no %s call %s: a file that a script %s proves nothing", m.tool(), effect, patternWords[m.Pattern.Kind])
	case Runs:
		c.warnName(n, WeakEvidence, "a path with [*] proves nothing; name one value", "no %s call %s: its %s can be several values", m.tool(), effect, m.Field)
	default:
		c.warnName(n, WeakEvidence, "a text does not prove a command; use runs, or a separate tool",
			"any %s call whose %s contains %s %s", m.tool(), m.Field, m.Pattern, effect)
	}
}
