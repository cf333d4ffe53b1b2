package rules

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// A KeyField is a pair of fields in a key. The first field belongs to the calls that the rule
// restricts. The second belongs to the calls that unlock them or refill their limit, that is, the
// calls named by [Require].First or [Limit].Per. The values of both fields must be equal.
type KeyField struct {
	Field Field // field of the calls that the rule restricts
	Other Field // field of the unlocking or refilling calls; equal to Field unless the statement names two fields with "as"
}

// A Field refers to a value in a call by an argument key, a path or a CEL expression.
type Field struct {
	Pos        gate.Position
	Text       string // the field without quotes and without "result."
	Expression bool   // whether the field is an expression in quotes
	Result     bool   // whether the path refers to the call's result

	line *scanner
	at   token // position of the field in the line
}

// String returns the field as written in statements.
func (f Field) String() string {
	switch {
	case f.Expression:
		return quote(f.Text)
	case f.Result:
		return resultPrefix + f.Text
	}
	return f.Text
}

// resultPrefix precedes a path in a result.
const resultPrefix = "result."

// Excerpt returns the source line with carets below the field.
func (f Field) Excerpt() string { return f.line.span(f.at.off, f.at.end).excerpt() }

// netForm returns the field as written in net names.
func (f Field) netForm() string { return Name{Text: f.Text, Quoted: true}.netForm() }

// keyNetForm returns a key as written in net names.
func keyNetForm(key []KeyField, first bool) string {
	return strings.ReplaceAll(pairs(key, first, "-and-"), " as ", "-as-")
}

// same reports whether f and g are written in the same way.
func (f Field) same(g Field) bool { return f.String() == g.String() }

// pair formats the pair as in a statement, for example as "src as path". If both fields are the
// same, it formats only one. Usually, the field of the restricted calls comes first. If first is
// true, it comes second, unless the other field refers to a result.
func (k KeyField) pair(first bool) string {
	switch {
	case k.Field.same(k.Other):
		return k.Field.String()
	case first && !k.Other.Result:
		return k.Other.String() + " as " + k.Field.String()
	}
	return k.Field.String() + " as " + k.Other.String()
}

// pairs formats the pairs of fields in a key with [KeyField.pair], and joins them.
func pairs(key []KeyField, first bool, separator string) string {
	return strings.Join(list.Map(key, func(k KeyField) string { return k.pair(first) }), separator)
}

// hasTwoFields reports whether any pair in the key consists of two different fields.
func hasTwoFields(key []KeyField) bool {
	return slices.ContainsFunc(key, func(k KeyField) bool { return !k.Field.same(k.Other) })
}

// keyOf formats a key as the clause "with same F".
func keyOf(key []KeyField) string {
	if len(key) == 0 {
		return ""
	}
	return " with same " + pairs(key, true, ", ")
}

// keyEach formats the key of a limit as the clause "for each F" or "with same F as G".
func keyEach(key []KeyField) string {
	switch {
	case len(key) == 0:
		return ""
	case hasTwoFields(key):
		return " with same " + pairs(key, false, ", ")
	}
	return " for each " + pairs(key, false, ", ")
}

// isPath reports whether a field is a path.
func isPath(field string) bool {
	return strings.HasPrefix(field, "$.") || strings.HasPrefix(field, "$[")
}
