package rules

import (
	"slices"
	"strings"
)

// fieldsOf returns the fields that a statement reads, in statement order.
func fieldsOf(s Statement) (fields []Field) {
	var key []KeyField
	switch s := s.(type) {
	case *Require:
		key = s.Key
	case *Limit:
		if key = s.Key; s.Of != nil {
			fields = append(fields, *s.Of)
		}
	}
	for _, k := range key {
		fields = append(fields, k.Field)
		if !k.Other.same(k.Field) {
			fields = append(fields, k.Other)
		}
	}
	return fields
}

// checkFields warns about a field in a key or a sum if the field contains invisible characters or
// looks like a path.
func (c *compiler) checkFields(s Statement) {
	for _, f := range fieldsOf(s) {
		if r, ok := firstInvisible(f.Text); ok && !f.Expression {
			c.warnField(f, InvisibleChar, "", "the field contains the invisible character %U", r)
		}
		if !f.Expression && !isPath(f.Text) && strings.Contains(f.Text, ".") {
			c.warnField(f, LikePath, "write $."+f.Text, "%s is one key of the arguments, not a path", f)
		}
	}
}

// warnField adds a warning that points at a field in its statement.
func (r *report) warnField(f Field, code Code, hint, format string, args ...any) {
	r.warnAt(f.Pos, f.line.span(f.at.off, f.at.end), code, hint, format, args...)
}

// checkBudgets warns about a limit that counts each value of a field separately, unless another
// limit counts all values together. Otherwise, a caller could write the same value in several ways
// and get a separate budget for each. checkBudgets ignores limits with an expression in the key,
// because an expression may normalize the value.
func (c *compiler) checkBudgets(s *Limit) {
	if len(s.Key) == 0 || slices.ContainsFunc(s.Key, func(k KeyField) bool { return k.Field.Expression }) {
		return
	}
	for _, l := range statementsOf[*Limit](c.statements) {
		if len(l.Key) == 0 && (s.Shadow || !l.Shadow) && c.limitsAll(l, s.Tools) {
			return
		}
	}
	f := s.Key[0].Field
	c.warnField(f, ManyBudgets, "add a limit for all of them, without "+strings.TrimSpace(keyEach(s.Key)),
		"a call that spells %s differently has its own limit", f)
}

// limitsAll reports whether l counts all calls with any of the given names.
func (c *compiler) limitsAll(l *Limit, names []Name) bool {
	return !slices.ContainsFunc(names, func(n Name) bool {
		return !slices.ContainsFunc(l.Tools, func(other Name) bool { return c.labels.isOneOf(n, other) })
	})
}
