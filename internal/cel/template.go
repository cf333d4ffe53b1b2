package cel

import (
	"encoding/json"
	"strings"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
)

// A Template is a message with expressions in braces, such as "only below /workspace, not
// {args.path}".
type Template struct{ parts []part }

// A part of a template is an expression if value is not nil, and literal text otherwise.
type part struct {
	text  string
	value *Value
}

// maxShown is the maximum length in bytes of a value in a message.
const maxShown = 200

// Template compiles a message with embedded expressions in braces. "{{" and "}}" stand for literal
// braces. An expression must not contain braces. The argument names restricts the keys of marking
// and meta that expressions can use; nil means no restriction. Any error is a [diag.List].
func (c *Compiler) Template(src string, names *Names) (*Template, error) {
	t := &Template{}
	var errs diag.List
	for at := 0; at < len(src); {
		switch rest := src[at:]; {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			t.parts = append(t.parts, part{text: rest[:1]})
			at += 2
		case rest[0] == '}':
			return nil, diag.List{errorAt(src, at, `"}" without "{"`, `write "}}" for the character itself`)}
		case rest[0] == '{':
			end := strings.IndexAny(rest[1:], "{}")
			if end < 0 || rest[1+end] != '}' {
				return nil, diag.List{errorAt(src, at, `"{" without "}"`, `write "{{" for the character itself`)}
			}
			v, err := c.Value(rest[1:1+end], names)
			errs = append(errs, shiftProblems(src, at+1, err)...)
			t.parts = append(t.parts, part{value: v})
			at += end + 2
		default:
			end := strings.IndexAny(rest, "{}")
			if end < 0 {
				end = len(rest)
			}
			t.parts = append(t.parts, part{text: rest[:end]})
			at += end
		}
	}
	if len(errs) > 0 {
		return nil, sorted(errs)
	}
	return t, nil
}

// shiftProblems converts the positions of problems in an embedded expression to positions in the
// message that contains it. The argument src is the message, and start is the offset of the
// expression in src.
func shiftProblems(src string, start int, err error) diag.List {
	list, _ := err.(diag.List)
	for i, e := range list {
		list[i] = errorAt(src, start+e.Offset, e.Msg, e.Hint)
	}
	return list
}

// Text returns the message for the firing of a transition. If an expression cannot be evaluated,
// "?" replaces its value.
func (t *Template) Text(in *Input) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.value == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := p.value.Of(in)
		if err != nil {
			b.WriteByte('?')
			continue
		}
		b.WriteString(display(v))
	}
	return b.String()
}

// display formats a value on one line. A string is displayed without quotes, and other data as
// JSON.
func display(v any) string {
	s, ok := v.(string)
	if !ok {
		doc, _ := json.Marshal(v) // never fails for the value of an expression
		s = string(doc)
	}
	return text.Excerpt(s, maxShown)
}
