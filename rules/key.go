package rules

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A KeyField is a pair of fields in a key: a call that the rule restricts must have the value in
// Field that a call that earns has in Other. Calls that earn are those of First in a [Require] and
// of Per in a [Limit].
type KeyField struct {
	Field Field // field of the calls that the rule restricts
	Other Field // field of the calls that earn; equal to Field unless "as" names two
}

// A Field is a part of a call: a flat key of the arguments, a path, or a CEL expression.
type Field struct {
	Pos        gate.Position
	Text       string // without quotes and "result."
	Expression bool   // the field is an expression in quotes
	Result     bool   // the path refers to the result of the call

	line *scanner
	at   token // position of the field in line
}

// String returns the field in the notation of statements.
func (f Field) String() string {
	switch {
	case f.Expression:
		return quote(f.Text)
	case f.Result:
		return resultPrefix + f.Text
	}
	return f.Text
}

// resultPrefix precedes a path in a result.
const resultPrefix = "result."

// Excerpt returns the source line with carets below the field.
func (f Field) Excerpt() string { return f.line.span(f.at.off, f.at.end).excerpt() }

// netForm returns the field in the form for net names.
func (f Field) netForm() string { return Name{Text: f.Text, Quoted: true}.netForm() }

// keyNetForm returns a key in the form for net names.
func keyNetForm(key []KeyField, first bool) string {
	texts := make([]string, len(key))
	for i, k := range key {
		texts[i] = strings.ReplaceAll(k.pair(first), " as ", "-as-")
	}
	return strings.Join(texts, "-and-")
}

// same reports whether two fields are written alike.
func (f Field) same(g Field) bool { return f.String() == g.String() }

// pair returns the field in the notation of statements. If it names two fields, the one of the
// earlier call comes first, except that a field of a result comes last. first reports that the
// earlier calls are the ones that earn.
func (k KeyField) pair(first bool) string {
	switch {
	case k.Field.same(k.Other):
		return k.Field.String()
	case first && !k.Other.Result:
		return k.Other.String() + " as " + k.Field.String()
	}
	return k.Field.String() + " as " + k.Other.String()
}

// pairs joins the fields of a key.
func pairs(key []KeyField, first bool, separator string) string {
	texts := make([]string, len(key))
	for i, k := range key {
		texts[i] = k.pair(first)
	}
	return strings.Join(texts, separator)
}

// twoFields reports whether a key names two different fields.
func twoFields(key []KeyField) bool {
	return slices.ContainsFunc(key, func(k KeyField) bool { return !k.Field.same(k.Other) })
}

// keyOf formats the key of a rule between two calls: "with same F".
func keyOf(key []KeyField) string {
	if len(key) == 0 {
		return ""
	}
	return " with same " + pairs(key, true, ", ")
}

// keyEach formats the key of a limit: "for each F", or "with same F as G".
func keyEach(key []KeyField) string {
	switch {
	case len(key) == 0:
		return ""
	case twoFields(key):
		return " with same " + pairs(key, false, ", ")
	}
	return " for each " + pairs(key, false, ", ")
}

// Forms of keys for hints.
const (
	sameForm  = "write: with same path, or: with same src as path"
	eachForm  = "write: for each path"
	fieldForm = `a field is a key, a path such as $.file.path, or an expression in quotes`
)

// A side describes the fields that a key may name besides those of the restricted calls.
type side struct {
	other  bool // the rule has calls that earn
	first  bool // the field of the calls that earn is written first
	result bool // they earn by their success, so that they have a result
}

// key parses an optional key.
func (p *parser) key(of side) []KeyField {
	switch {
	case p.optional("with"):
		p.keyword("same", sameForm)
	case p.optional("for"):
		p.keyword("each", eachForm)
		of = side{}
	default:
		return nil
	}
	var key []KeyField
	p.seen = make(map[string]bool)
	for p.line.err == nil {
		k := p.keyField(of)
		if p.isRepeated(k.pair(of.first)) {
			p.line.fail(Unexpected, k.Field.at, sameForm, "the field %s is named twice", k.Field)
		}
		key = append(key, k)
		if !p.comma() {
			break
		}
	}
	return key
}

// comma parses an optional comma.
func (p *parser) comma() bool {
	if !p.atComma() {
		return false
	}
	p.line.off = p.line.skip(p.line.off) + 1
	return true
}

// atComma reports whether a comma is next.
func (p *parser) atComma() bool {
	return strings.HasPrefix(p.line.text[p.line.skip(p.line.off):], ",")
}

// keyField parses one field of a key, or two with "as" between them.
func (p *parser) keyField(of side) KeyField {
	f := p.field(sameForm)
	k := KeyField{Field: f, Other: f}
	if p.atComma() {
		return p.checked(k, of)
	}
	if at := p.line.peek(); p.optional("as") {
		if !of.other {
			p.line.fail(BadKey, at, "write: for each path", `"as" names the field of another call, and here is none`)
		}
		g := p.field(sameForm)
		if k.Other = g; f.Result || of.first && !g.Result {
			k.Field, k.Other = g, f
		}
	}
	return p.checked(k, of)
}

// checked refuses a result of calls that have no result.
func (p *parser) checked(k KeyField, of side) KeyField {
	switch {
	case k.Field.Result:
		p.line.fail(BadKey, k.Field.at, "write: with same to as result.$.email", "a call that is to be decided has no result")
	case k.Other.Result && !of.result:
		p.line.fail(BadKey, k.Other.at, "write: per successful B", "only calls that succeed have a result")
	}
	return k
}

// field parses a field. A comma ends it, except in quotes.
func (p *parser) field(form string) Field {
	if p.line.err != nil {
		return Field{}
	}
	start := p.line.skip(p.line.off)
	if strings.HasPrefix(p.line.text[start:], `"`) {
		return p.expression(start)
	}
	t := token{kind: bare, off: start, end: p.fieldStop(start)}
	t.text = p.line.text[start:t.end]
	p.line.off = t.end
	switch t.text {
	case "":
		p.line.fail(Missing, token{off: p.line.contentEnd(start), end: start}, form, "a field is missing")
	case "as", "unless", "per":
		p.line.fail(Missing, t, form, "a field is missing; write $.%s for a field of this name", t.text)
	}
	f := Field{Pos: p.line.position(start), Text: t.text, line: p.line, at: t}
	path, ofResult := strings.CutPrefix(t.text, resultPrefix)
	if ofResult && isPath(path) {
		f.Text, f.Result = path, true
		p.path(start+len(resultPrefix), t.end)
		return f
	}
	p.checkField(t, ofResult)
	return f
}

// checkField refuses text that is neither a key nor a path.
func (p *parser) checkField(t token, ofResult bool) {
	head, rest, dotted := strings.Cut(t.text, ".")
	switch {
	case isPath(t.text):
		p.path(t.off, t.end)
	case strings.Contains(t.text, `"`):
		p.line.fail(BadQuotes, t, "an expression stands in quotes as a whole", "a quote inside the field %s", t.text)
	case ofResult:
		p.line.fail(BadField, t, "write: result.$."+rest, "the part of a result is a path, not %q", rest)
	case dotted && (head == "args" || head == "arguments"):
		p.line.fail(BadField, t, "write $."+rest+"; an expression stands in quotes", "%q is no field: fields are those of the arguments", t.text)
	case strings.HasPrefix(t.text, "$"):
		p.line.fail(BadField, t, "write $."+strings.TrimPrefix(t.text, "$"), "%q is no path", t.text)
	case strings.ContainsAny(t.text, "*?"):
		p.line.fail(BadField, t, fieldForm, "%q is no field: a field has no pattern", t.text)
	}
}

// fieldStop returns the end of the bare field at start.
func (p *parser) fieldStop(start int) int {
	text, from := p.line.text, start
	if strings.HasPrefix(text[start:], resultPrefix) {
		from += len(resultPrefix)
	}
	end := p.fieldEnd(from)
	for i := start; i < end; i++ {
		switch text[i] {
		case ',':
			return i
		case '"':
			if i = stringEnd(text, i) - 1; i < 0 {
				return end
			}
		}
	}
	return end
}

// expression parses a field in quotes.
func (p *parser) expression(start int) Field {
	t := p.line.jsonString(start, "expression")
	p.line.off = t.end
	if !strings.HasPrefix(p.line.text[t.end:], ",") {
		t = p.line.separated(t, "expression")
	}
	return Field{Pos: p.line.position(start), Text: t.text, Expression: true, line: p.line, at: t}
}
