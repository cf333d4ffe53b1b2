package config

import "strings"

// An Expression is a CEL expression, or a sentence with embedded CEL expressions, together with its
// position in the file. This package does not interpret expressions.
type Expression struct {
	Text string

	at     RuleText // text and its location in the file
	exact  bool     // whether the file contains Text verbatim; if not, [Expression.Position] ignores its arguments
	source *source
}

// String returns the text of the expression.
func (e Expression) String() string { return e.Text }

// MarshalText returns the text of the expression.
func (e Expression) MarshalText() ([]byte, error) { return []byte(e.Text), nil }

// Equal reports whether both expressions have the same text.
func (e Expression) Equal(other Expression) bool { return e.Text == other.Text }

// Position converts a line and column in the expression to a position in the file.
func (e Expression) Position(line, column int) Position {
	if !e.exact {
		line, column = 1, 1
	}
	if e.source == nil {
		return Position{}
	}
	return e.at.Position(line, column)
}

// Excerpt returns the source line of a position in the expression, with a caret below the position.
// If the expression does not come from a file, it returns the empty string.
func (e Expression) Excerpt(line, column int) string {
	if e.source == nil {
		return ""
	}
	p := e.Position(line, column)
	return e.source.excerpt(p.Line, p.Column)
}

// readExpression reads the text of an expression, which must not be empty.
func readExpression(v Value) (e Expression, ok bool) {
	if e.Text, ok = v.Text(); !ok {
		return e, false
	}
	e.source, e.at = v.source, readRuleText(v)
	if e.exact = v.block; !e.exact && v.line <= len(v.lines) {
		rest := []rune(v.lines[v.line-1])
		from := min(e.at.column-1, len(rest))
		e.exact = strings.HasPrefix(string(rest[from:]), v.text)
	}
	return e, true
}
