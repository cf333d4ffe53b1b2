package config

import "strings"

// An Expression is a CEL text, or a sentence with CEL texts in it, and its
// position. This package does not interpret it.
type Expression struct {
	Text string

	at     RuleText // where; a part of a file
	exact  bool     // the file has the text as it is, so that columns can be counted
	source *source
}

// String returns the text.
func (e Expression) String() string { return e.Text }

// MarshalText returns the text.
func (e Expression) MarshalText() ([]byte, error) { return []byte(e.Text), nil }

// Equal compares the texts.
func (e Expression) Equal(other Expression) bool { return e.Text == other.Text }

// Position returns the position in the file of a line and a column of the text.
func (e Expression) Position(line, column int) Position {
	if !e.exact {
		line, column = 1, 1
	}
	if e.source == nil {
		return Position{}
	}
	return e.at.Position(line, column)
}

// Excerpt returns the line of the file and a caret below that position, or "" if
// the expression does not come from a file.
func (e Expression) Excerpt(line, column int) string {
	if e.source == nil {
		return ""
	}
	p := e.Position(line, column)
	return e.source.excerpt(p.Line, p.Column)
}

// readExpression reads a text that must not be empty.
func readExpression(d *decoder, to *Expression) func(key, value *node) {
	return func(key, value *node) {
		d.filled(&to.Text)(key, value)
		if value.kind != textKind {
			return
		}
		to.source, to.at = d.source, readRuleText(d, value)
		if to.exact = value.block; !to.exact && value.line <= len(d.lines) {
			rest := []rune(d.lines[value.line-1])
			from := min(to.at.column-1, len(rest))
			to.exact = strings.HasPrefix(string(rest[from:]), value.text)
		}
	}
}
