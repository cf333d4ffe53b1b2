package rules

import (
	"errors"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// mapping reads a map.
func (s *scanner) mapping(at token) Statement {
	m := &Map{Pos: s.position(at.off)}
	m.Tool, m.Field = s.target(mapForm)
	if m.Field == "" {
		m.Pattern = s.when()
	} else {
		m.Pattern = s.pattern()
	}
	s.keyword("as", mapForm)
	m.As = s.name("the name that the map gives is missing", mapForm)
	s.end()
	return m
}

// target reads the T.F of a map or an example: the first dot outside quotes
// separates them. The field is empty if a tool is alone, before an expression or
// all the arguments.
func (s *scanner) target(form string) (Name, string) {
	tool, end := s.targetTool(form)
	if s.err != nil {
		return Name{}, ""
	}
	whole := token{off: tool.off, end: s.fieldEnd(end)}
	s.off = whole.end
	field, dotted := strings.CutPrefix(s.text[end:whole.end], ".")
	switch {
	case !dotted && whole.end == end && tool.text != "" && s.wholeCall():
	case !dotted && s.peek().isCase("when"):
		s.wrongCase(s.peek(), "when")
	case !dotted:
		s.fail(BadOperand, whole, "such as bash.command", "expected tool.field, not %q", s.text[whole.off:whole.end])
	case tool.text == "" || field == "":
		s.fail(BadOperand, whole, "such as bash.command", "the tool and the field must not be empty in %q", s.text[whole.off:whole.end])
	case isPath(field):
		s.path(end+1, whole.end)
	case strings.Contains(field, `"`):
		s.fail(BadQuotes, token{off: end + 1, end: whole.end}, "only the tool may be quoted", "a quote inside the field %s", field)
	}
	name := s.named(tool)
	if name.Glob() {
		s.fail(MapGlob, tool, "write one map for each tool", "a map takes the exact name of a tool, not the pattern %q", name.Text)
	}
	return name, field
}

// wholeCall reports whether the rest is about a whole call and not one field.
func (s *scanner) wholeCall() bool {
	return strings.HasPrefix(s.text[s.skip(s.off):], "{") || s.peek().is("when")
}

// targetTool reads the T of a map, and returns its end.
func (s *scanner) targetTool(form string) (token, int) {
	start := s.skip(s.off)
	switch {
	case start == len(s.text) || s.text[start] == '#':
		s.fail(Missing, token{off: s.contentEnd(start)}, form, "the tool and its field are missing")
		return token{}, 0
	case s.text[start] == '"':
		t := s.quoted(start)
		return t, t.end
	}
	end := s.wordEnd(start)
	if i := strings.IndexByte(s.text[start:end], '.'); i >= 0 {
		end = start + i
	}
	t := token{kind: bare, text: s.text[start:end], off: start, end: end}
	if strings.Contains(t.text, `"`) {
		s.fail(BadQuotes, t, "quote the whole tool", "a quote inside the tool %s", t.text)
	}
	return t, end
}

// isPath reports whether a field leads into the arguments.
func isPath(field string) bool {
	return strings.HasPrefix(field, "$.") || strings.HasPrefix(field, "$[")
}

// fieldEnd returns the end of the field whose dot is at off. In a path, quoted
// keys may contain separators.
func (s *scanner) fieldEnd(off int) int {
	if !isPath(strings.TrimPrefix(s.text[off:], ".")) {
		return s.wordEnd(off)
	}
	for {
		end := s.wordEnd(off)
		quote := strings.Index(s.text[off:end], `["`)
		if quote < 0 {
			return end
		}
		after := stringEnd(s.text, off+quote+1)
		if after < 0 {
			return end
		}
		off = after
	}
}

// path parses the path between two offsets with the gate.
func (s *scanner) path(from, to int) {
	_, err := gate.ParsePath(s.text[from:to])
	var bad *gate.PathError
	if errors.As(err, &bad) {
		at := min(from+bad.Offset, to)
		s.fail(BadPath, token{off: at, end: to}, "such as $.request.method, $.files[*].path or $[\"odd key\"]", "%s", bad.Msg)
	}
}
