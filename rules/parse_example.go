package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxExampleDepth bounds the nesting of the arguments of an example.
const maxExampleDepth = 64

// example reads an example.
func (s *scanner) example(at token) Statement {
	e := &Example{Pos: s.position(at.off)}
	start := s.skip(s.off)
	e.Tool, e.Field = s.target(exampleForm)
	if isPath(e.Field) {
		s.fail(BadOperand, token{off: start, end: s.off}, `write all the arguments: example tool {"field": 1} as name`, "an example of a path")
	}
	value := s.value(e.Field == "")
	e.Value, e.line, e.value = value.text, s, value
	e.Not = s.optional("not")
	s.keyword("as", exampleForm)
	e.As = s.name("the name that the maps give is missing", exampleForm)
	s.end()
	return e
}

// value reads the text of a field, or an object of arguments.
func (s *scanner) value(object bool) token {
	if s.err != nil {
		return token{}
	}
	start := s.skip(s.off)
	switch {
	case object && strings.HasPrefix(s.text[start:], "{"):
		return s.object(start)
	case !object && strings.HasPrefix(s.text[start:], `"`):
		t := s.whole(s.jsonString(start, "text"), "text")
		s.off = t.end
		return t
	}
	switch t := s.peek(); {
	case t.kind == atEnd:
		s.fail(Missing, t, exampleForm, "the text of the field is missing")
	case object:
		s.fail(BadExample, t, `write: example tool {"field": 1} as name`, "expected the arguments, not %q", s.text[t.off:t.end])
	default:
		s.fail(BadExample, t, exampleForm, "the text of the field must be in quotes, not %s", s.text[t.off:t.end])
	}
	return token{}
}

// object reads the arguments of a call, as strictly as the proxy does.
func (s *scanner) object(start int) token {
	d := json.NewDecoder(strings.NewReader(s.text[start:]))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		s.fail(BadExample, token{off: start, end: len(strings.TrimRightFunc(s.text, isSeparator))}, "", "the arguments are not a JSON object on this line")
		return token{}
	}
	t := token{kind: quoted, text: string(bytes.TrimSpace(raw)), off: start, end: start + int(d.InputOffset())}
	var bad *rawjson.SyntaxError
	if err := rawjson.Check([]byte(t.text), maxExampleDepth); errors.As(err, &bad) {
		at := min(start+bad.Offset, t.end-1)
		s.fail(BadExample, token{off: at, end: t.end}, "", "parsers could read the arguments differently: %s", bad.Msg)
	}
	s.off = t.end
	return s.whole(t, "arguments")
}
