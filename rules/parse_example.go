package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxExampleDepth limits the nesting of an example's arguments.
const maxExampleDepth = 64

// example parses the words after "example": the target, the text or arguments, and the expected
// name.
func (p *parser) example(at token) Statement {
	e := &Example{Pos: p.line.position(at.off)}
	start := p.line.skip(p.line.off)
	e.Tools, e.Field = p.target(exampleForm)
	if i := slices.IndexFunc(e.Tools, Name.Glob); i >= 0 {
		p.line.fail(MapGlob, token{off: start, end: p.line.off}, "name the tools", "an example needs a tool, not the pattern %q", e.Tools[i].Text)
	}
	if isPath(e.Field) {
		p.line.fail(BadOperand, token{off: start, end: p.line.off}, `write all the arguments: example tool {"field": 1} as name`, "an example cannot use a path")
	}
	value := p.value(e.Field == "")
	e.Value, e.line, e.value = value.text, p.line, value
	e.Not = p.acceptKeyword("not")
	p.keyword("as", exampleForm)
	e.As = p.name("the name that the maps define is missing", exampleForm)
	p.end()
	return e
}

// value parses the text of a field, or an object with arguments.
func (p *parser) value(object bool) token {
	if p.line.err != nil {
		return token{}
	}
	start := p.line.skip(p.line.off)
	switch {
	case object && strings.HasPrefix(p.line.text[start:], "{"):
		return p.object(start)
	case !object && strings.HasPrefix(p.line.text[start:], `"`):
		t := p.line.checkSeparated(p.line.jsonString(start, "text"), "text")
		p.line.off = t.end
		return t
	}
	switch t := p.line.peek(); {
	case t.kind == atEnd:
		p.line.fail(Missing, t, exampleForm, "the text of the field is missing")
	case object:
		p.line.fail(BadExample, t, `write: example tool {"field": 1} as name`, "expected the arguments, not %q", p.line.text[t.off:t.end])
	default:
		p.line.fail(BadExample, t, exampleForm, "the field's text must be in quotes, found %s", p.line.text[t.off:t.end])
	}
	return token{}
}

// object parses the call's arguments, with the same strictness as the proxy.
func (p *parser) object(start int) token {
	d := json.NewDecoder(strings.NewReader(p.line.text[start:]))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		p.line.fail(BadExample, token{off: start, end: len(strings.TrimRightFunc(p.line.text, isSeparator))}, "", "the arguments are not a JSON object on this line")
		return token{}
	}
	t := token{kind: quoted, text: string(bytes.TrimSpace(raw)), off: start, end: start + int(d.InputOffset())}
	if bad, ok := errors.AsType[*rawjson.SyntaxError](rawjson.Check([]byte(t.text), maxExampleDepth)); ok {
		at := min(start+bad.Offset, t.end-1)
		p.line.fail(BadExample, token{off: at, end: t.end}, "", "parsers could read the arguments differently: %s", bad.Msg)
	}
	p.line.off = t.end
	return p.line.checkSeparated(t, "arguments")
}
