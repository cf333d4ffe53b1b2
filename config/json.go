package config

import (
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readJSON reads a text that is JSON; ok is false if it is not, and may then
// still be YAML. JSON has a reader of its own because it is exact about
// escapes, and because policies are tried by the thousand in this form.
func readJSON(text string) (n *node, ok bool) {
	if !looksJSON(text) || !json.Valid([]byte(text)) {
		return nil, false
	}
	r := &jsonReader{text: text, line: 1, column: 1}
	r.dec = json.NewDecoder(strings.NewReader(text))
	r.dec.UseNumber()
	n = r.value(0)
	if r.failed {
		return nil, false // too deep or too large: the YAML reader reports it with a position
	}
	return n, true
}

type jsonReader struct {
	text   string
	dec    *json.Decoder
	failed bool
	nodes  int

	offset, line, column int // of what has been counted so far
}

// token returns the next token and the offset of its start.
func (r *jsonReader) token() (json.Token, *node) {
	from := int(r.dec.InputOffset())
	for from < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[from]) >= 0 {
		from++
	}
	t, err := r.dec.Token()
	if err != nil && err != io.EOF {
		r.failed = true
	}
	n := &node{}
	n.line, n.column = r.advance(from)
	n.endLine, n.endColumn = r.advance(int(r.dec.InputOffset()))
	return t, n
}

// advance counts lines and columns up to an offset.
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
	if depth > maxDepth || r.nodes > maxNodes {
		r.failed = true
	}
	if r.failed {
		return n
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			r.mapping(n, depth)
		} else {
			r.list(n, depth)
		}
	case string:
		n.kind, n.text = textKind, t
	case json.Number:
		n.kind, n.text = numberKind, t.String()
	case bool:
		n.kind, n.text = boolKind, "false"
		if t {
			n.text = "true"
		}
	}
	return n
}

func (r *jsonReader) mapping(n *node, depth int) {
	n.kind = mapKind
	for !r.failed && r.dec.More() {
		t, key := r.token()
		key.kind = textKind
		key.text, _ = t.(string)
		n.fields = append(n.fields, field{key, r.value(depth + 1)})
	}
	r.token() // the closing brace
}

func (r *jsonReader) list(n *node, depth int) {
	n.kind = listKind
	for !r.failed && r.dec.More() {
		n.items = append(n.items, r.value(depth+1))
	}
	r.token() // the closing bracket
}

// withoutComments replaces comments and trailing commas, which editors allow in
// JSON, by spaces. Everything else keeps its offset.
func withoutComments(text string) string {
	out := []rune(text)
	comma := -1 // the last one, while nothing but space has come behind it
	for i := 0; i < len(out); {
		end := i + 1
		switch {
		case out[i] == '"':
			for end < len(out) && out[end] != '"' {
				if out[end] == '\\' {
					end++
				}
				end++
			}
			end, comma = min(end+1, len(out)), -1
		case out[i] == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			if end = commentEnd(out, i); end < 0 {
				return text
			}
			blank(out[i:end])
		case out[i] == ',':
			comma = i
		case (out[i] == '}' || out[i] == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case !unicode.IsSpace(out[i]):
			comma = -1
		}
		i = end
	}
	return string(out)
}

// commentEnd returns the offset after the comment that begins at i; -1: it does
// not end.
func commentEnd(text []rune, i int) int {
	for k := i + 2; k < len(text); k++ {
		switch {
		case text[i+1] == '/' && text[k] == '\n':
			return k
		case text[i+1] == '*' && text[k] == '/' && text[k-1] == '*' && k > i+2:
			return k + 1
		}
	}
	if text[i+1] == '*' {
		return -1
	}
	return len(text)
}

func blank(text []rune) {
	for i := range text {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}
