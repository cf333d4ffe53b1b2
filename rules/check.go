package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/internal/text"
)

// check finds errors and warnings in well-formed statements, including conflicts between
// statements.
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
		if r, ok := firstInvisible(n.Text); ok {
			c.warnName(n, InvisibleChar, "", "the name contains the invisible character %U", r)
		}
		c.checkLookAlike(s, n)
		if before, after, ok := strings.Cut(n.Text, ","); ok && !n.Quoted {
			c.warnName(n, KeywordLike, fmt.Sprintf("write two names with a space: %s, %s; or quote the name", before, after), "%s is read as one name", n)
		}
		if strings.Contains(n.Text, "${") && !n.Quoted {
			c.warnName(n, KeywordLike, "write the name out, or quote it", "rules do not expand ${...}")
		}
	}
}

// checkLookAlike rejects curly quotes around a name, and warns about a word that mixes letters of
// different alphabets. A rule with such a name would not apply to the tool that the author means.
func (c *compiler) checkLookAlike(s Statement, n Name) {
	if strings.Trim(n.Text, curlyQuotes) != n.Text && !n.Quoted {
		c.failName(s, n, BadQuotes, "use straight quotes, or none", "curly quotes do not quote the name %s", n)
	}
	for word := range strings.FieldsFuncSeq(n.Text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M) }) {
		if alphabets := text.Alphabets(word); len(alphabets) > 1 {
			c.warnName(n, LookAlike, "", "the word %s in the name %s mixes %s letters", word, n, text.Join(alphabets, "and"))
		}
	}
}

// curlyQuotes contains the quotation marks that word processors write in place of straight quotes.
const curlyQuotes = "“”„‟‘’‚‛«»"
