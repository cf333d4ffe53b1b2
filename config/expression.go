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

// An origin is the position in a file of a part of a net, so that problems found
// later can be shown at the exact word.
type origin struct {
	source *source
	node   *node
}

// Of returns the position of the value of a key or, in a list, of the text in it.
// It returns the position of the part if there is no such value, and none if the
// part does not come from a file.
func (o origin) Of(key, text string) Position {
	if o.source == nil {
		return Position{}
	}
	return o.in(o.node.get(key), text)
}

// Has reports whether the part has the key.
func (o origin) Has(key string) bool { return o.source != nil && o.node.get(key) != nil }

// in returns the position of the text in a list, that of the list if the text is not
// there, or that of the part if there is no list.
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

// Excerpt returns the line of the file and a caret below that position, or "" if
// the part does not come from a file.
func (o origin) Excerpt(line, column int) string {
	if o.source == nil {
		return ""
	}
	return o.source.excerpt(line, column)
}
