package rules

import (
	"fmt"
	"slices"
	"strings"
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
		if r, ok := invisible(n.Text); ok {
			c.warnName(n, InvisibleChar, "", "the name contains the invisible character %U", r)
		}
		if before, after, ok := strings.Cut(n.Text, ","); ok && !n.Quoted {
			c.warnName(n, KeywordLike, fmt.Sprintf("write two names with a space: %s, %s; or quote the name", before, after), "%s is read as one name", n)
		}
		if strings.Contains(n.Text, "${") && !n.Quoted {
			c.warnName(n, KeywordLike, "write the name out, or quote it", "rules do not expand ${...}")
		}
	}
}
