package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/gate"
)

// check finds what single lines do not show: errors and warnings about
// statements that are well formed.
func (c *compiler) check() {
	for _, s := range c.statements {
		c.checkNames(s)
		switch s := s.(type) {
		case *Require:
			c.checkRequire(s)
		case *Limit:
			c.checkLimit(s)
		case *Map:
			c.checkMap(s)
		}
	}
	c.checkLimits()
}

func (c *compiler) checkNames(s Statement) {
	names := s.names()
	switch s := s.(type) {
	case *Map:
		names = []Name{s.Tool, s.As}
	case *Prove:
		names = s.written()
	}
	for _, n := range names {
		if r, ok := invisible(n.Text); ok {
			c.warnName(s, n, InvisibleChar, "", "the name holds %U, which nobody sees", r)
		}
	}
}

// invisible finds a character that leaves no trace on a screen.
func invisible(s string) (rune, bool) {
	for _, r := range s {
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
			r == '\u2800' { // the blank Braille pattern
			return r, true
		}
	}
	return 0, false
}

func (c *compiler) checkRequire(s *Require) {
	if s.First.same(s.Before) {
		c.warn(s, SelfRequire, "", "%s is required before itself", s.First)
	}
	if maps := c.labeled(s.First.Text); len(maps) > 0 && !slices.ContainsFunc(maps, func(m *Map) bool { return !s.Before.Matches(m.Tool.Text) }) {
		c.warn(s, Locked, "", "%s stays locked: every call that is named %s is itself a call of %s", s.Before, s.First, s.Before)
	}
	if !s.First.Quoted && s.First.Text != "human-approval" && Nearest(s.First.Text, []string{"human-approval"}) != "" {
		c.warnName(s, s.First, KeywordLike, `write human-approval to ask a person`, "the call %s is required, not the approval of a person", s.First)
	}
	c.checkEvidence(s, s.First, "unlocks "+s.Before.String())
}

// scopes are the keywords after "per".
var scopes = append([]string{"session"}, windows...)

func (c *compiler) checkLimit(s *Limit) {
	if s.Per == nil {
		return
	}
	switch {
	case s.Tool.same(*s.Per):
		c.failName(s, *s.Per, SelfRefill, "write: per session", "%s would refill its own limit", s.Tool)
		return
	case c.covers(s.Tool, *s.Per):
		c.failName(s, *s.Per, SelfRefill, "write: per session", "every call of %s is a call of %s: the limit would refill itself", s.Per, s.Tool)
		return
	}
	if s.Tool.Glob() && !s.Per.Glob() && gate.MatchGlob(s.Tool.Text, s.Per.Text) {
		c.warnName(s, *s.Per, NoRefill, "", "%s is one of %s: its calls are counted and give nothing back", s.Per, s.Tool)
	}
	if near := Nearest(s.Per.Text, scopes); near != "" && !s.Per.Quoted {
		c.warnName(s, *s.Per, KeywordLike, fmt.Sprintf("did you mean %q?", near), "calls of %s refill the limit", s.Per)
	}
	c.checkEvidence(s, *s.Per, "refills the limit of "+s.Tool.String())
}

// covers reports whether every call of b is a call of a: they are one name, b
// is an action of the tool a, or a label that only calls of a get.
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
	maps := c.labeled(b.Text)
	for _, m := range maps {
		if m.Tool.Text != a.Text && !c.alsoLabels(m, a.Text) {
			return false
		}
	}
	return len(maps) > 0
}

// labeled lists the maps that give a label.
func (c *compiler) labeled(label string) []*Map {
	var maps []*Map
	for _, m := range c.maps {
		if m.As.Text == label {
			maps = append(maps, m)
		}
	}
	return maps
}

// alsoLabels reports whether what m matches is given another label too.
func (c *compiler) alsoLabels(m *Map, label string) bool {
	for _, other := range c.labeled(label) {
		if other.Tool.Text == m.Tool.Text && other.Field == m.Field && other.Pattern.String() == m.Pattern.String() {
			return true
		}
	}
	return false
}

// checkEvidence warns where a text that contains a word proves a call: "echo
// cp" is no copy.
func (c *compiler) checkEvidence(s Statement, n Name, effect string) {
	for _, m := range c.maps {
		if n.Matches(m.As.Text) {
			c.warnName(s, n, WeakEvidence, "a text proves no command; prefer a tool of its own",
				"any %s call whose %s contains %s %s", m.Tool, m.Field, m.Pattern, effect)
			return
		}
	}
}

func (c *compiler) checkMap(m *Map) {
	if !c.used(m) {
		c.warnName(m, m.As, UnusedLabel, "", "no rule uses the name %s", m.As)
	}
	if m.As.Glob() {
		c.warnName(m, m.As, LabelLikeGlob, "", "a rule reads %s as a pattern", m.As)
	}
	p := m.Pattern
	at := span{c.fileOf[m].source[m], p.column, len([]rune(p.String()))}
	switch {
	case p.Regex && p.Match(""):
		c.warnAt(m, p.Pos, at, MatchesAll, "", "the regex matches the empty text, and so every call of %s with the field %s", m.Tool, m.Field)
	case !p.Regex && strings.ContainsAny(p.Text, `^$*+?()[]{}|\`):
		c.warnAt(m, p.Pos, at, WordLikeRegex, "a regex stands between slashes: /regex/", "the word %s is searched as it stands", p.Text)
	}
}

// used reports whether a rule speaks of the label of m.
func (c *compiler) used(m *Map) bool {
	for _, s := range c.statements {
		for _, n := range s.names() {
			if n.Matches(m.As.Text) {
				return true
			}
		}
	}
	return false
}

// checkLimits warns of limits on one name that differ in the count alone.
func (c *compiler) checkLimits() {
	first := make(map[string]*Limit)
	for _, s := range c.statements {
		s, ok := s.(*Limit)
		if !ok {
			continue
		}
		key := s.Tool.String() + " " + s.scope()
		if earlier := first[key]; earlier != nil {
			c.warn(s, ContraryLimits, "", "%s has a limit of %s per %s at %s too; both hold", s.Tool, calls(earlier.Count), s.scope(), earlier.Pos)
			continue
		}
		first[key] = s
	}
}
