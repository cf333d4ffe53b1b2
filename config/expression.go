package config

import "strings"

// An Expression is a CEL expression, or a sentence with embedded CEL expressions, together with its
// position. This package does not interpret it.
type Expression struct {
	Text string

	at     RuleText // text and location in the file
	exact  bool     // the file contains Text verbatim, so columns are meaningful
	source *source
}

// String returns the text.
func (e Expression) String() string { return e.Text }

// MarshalText returns e.Text.
func (e Expression) MarshalText() ([]byte, error) { return []byte(e.Text), nil }

// Equal reports whether both expressions have the same text.
func (e Expression) Equal(other Expression) bool { return e.Text == other.Text }

// Position converts a line and column of the text to a position in the file.
func (e Expression) Position(line, column int) Position {
	if !e.exact {
		line, column = 1, 1
	}
	if e.source == nil {
		return Position{}
	}
	return e.at.Position(line, column)
}

// Excerpt returns the source line with a caret under the given position of the text, or "" if the
// expression does not come from a file.
func (e Expression) Excerpt(line, column int) string {
	if e.source == nil {
		return ""
	}
	p := e.Position(line, column)
	return e.source.excerpt(p.Line, p.Column)
}

// readExpression reads a text that must not be empty.
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

// An origin is the node that a part of the configuration was read from. It lets problems found
// after decoding point to the exact word.
type origin struct {
	source *source
	node   *node
}

// Of returns the position of the value of a key or, if the value is a list, of the entry equal to
// text. Without such a value, Of returns the position of the whole part; if the part does not
// come from a file, the zero Position.
func (o origin) Of(key, text string) Position {
	if o.source == nil {
		return Position{}
	}
	return o.in(o.node.get(key), text)
}

// Has reports whether the part has the key.
func (o origin) Has(key string) bool { return o.source != nil && o.node.get(key) != nil }

// in returns the position of text in the list value. It falls back to the position of the list, and
// to that of the part if value is nil.
func (o origin) in(value *node, text string) Position {
	if value == nil {
		return o.source.position(o.node)
	}
	for _, item := range value.items {
		if item.kind == textKind && item.text == text {
			return o.source.position(item)
		}
	}
	return o.source.position(value)
}

// Excerpt returns the source line with a caret under the column, or "" if the part does not come
// from a file.
func (o origin) Excerpt(line, column int) string {
	if o.source == nil {
		return ""
	}
	return o.source.excerpt(line, column)
}
