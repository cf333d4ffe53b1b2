package config

import (
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readJSON parses JSON. If it returns false, the caller must parse the text as YAML. The YAML
// library could parse valid JSON, too, because JSON is a subset of YAML. But it is slow on large
// files and handles some numbers, escapes and columns incorrectly.
func readJSON(text string) (n *node, ok bool) {
	if !looksJSON(text) || !json.Valid([]byte(text)) {
		return nil, false
	}
	r := &jsonReader{text: text, dec: json.NewDecoder(strings.NewReader(text)), line: 1, column: 1}
	r.dec.UseNumber()
	n = r.value(0)
	return n, !r.failed // if the text is too large or too deeply nested, the YAML reader reports the position of the problem
}

type jsonReader struct {
	text   string
	dec    *json.Decoder
	failed bool
	nodes  int

	offset, line, column int // last offset passed to advance, and its line and column
}

// token reads the next token.
func (r *jsonReader) token() (json.Token, *node) {
	from := int(r.dec.InputOffset())
	for from < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[from]) >= 0 {
		from++
	}
	t, err := r.dec.Token()
	r.failed = r.failed || err != nil && err != io.EOF
	n := &node{}
	n.line, n.column = r.advance(from)
	n.endLine, n.endColumn = r.advance(int(r.dec.InputOffset()))
	n.text, _ = t.(string)
	return t, n
}

// advance counts lines and columns up to the given offset.
func (r *jsonReader) advance(to int) (line, column int) {
	passed := r.text[r.offset:to]
	if i := strings.LastIndexByte(passed, '\n'); i >= 0 {
		r.line += strings.Count(passed, "\n")
		r.column = 1
		passed = passed[i+1:]
	}
	r.column += utf8.RuneCountInString(passed)
	r.offset = to
	return r.line, r.column
}

func (r *jsonReader) value(depth int) *node {
	t, n := r.token()
	r.nodes++
	r.failed = r.failed || depth > maxDepth || r.nodes > maxNodes
	switch t := t.(type) {
	case json.Delim:
		n.kind = listKind
		if t == '{' {
			n.kind = mapKind
		}
		r.readEntries(n, depth+1)
	case string:
		n.kind = textKind
	case json.Number:
		n.kind, n.text = numberKind, t.String()
	case bool:
		n.kind, n.text = boolKind, strconv.FormatBool(t)
	}
	return n
}

// readEntries reads the entries of the mapping or list n and the closing bracket.
func (r *jsonReader) readEntries(n *node, depth int) {
	for !r.failed && r.dec.More() {
		if n.kind == listKind {
			n.items = append(n.items, r.value(depth))
			continue
		}
		_, key := r.token()
		key.kind = textKind
		n.fields = append(n.fields, field{key, r.value(depth)})
	}
	r.token()
}

// Regular expressions that match the comments and trailing commas that editors allow in JSON. Both
// also match whole strings, so that a comma or // inside a string is not mistaken for a trailing
// comma or a comment.
var (
	comments = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/`)
	trailing = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|,\s*[}\]]`)
)

// withoutComments replaces comments and trailing commas with spaces, which preserves the positions
// of all other text.
func withoutComments(text string) string {
	text = comments.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, s)
	})
	return trailing.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return " " + s[1:]
	})
}

// looksJSON reports whether the text begins like a JSON object or array.
func looksJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\n\r")
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}
