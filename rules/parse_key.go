package rules

import "strings"

// A keyParser parses the key of a rule, and fields in other statements.
type keyParser struct{ *parser }

// A side describes the calls that unlock other calls or refill a limit. It determines how a key is
// parsed.
type side struct {
	other  bool // whether the rule has unlocking or refilling calls
	first  bool // whether the field of the unlocking or refilling calls is written first
	result bool // whether the unlocking or refilling calls must succeed, and thus have a result
}

// key parses a key, that is, the clause that begins with "with same" or "for each". Without such a
// clause, it returns nil.
func (p keyParser) key(of side) []KeyField {
	switch {
	case p.acceptKeyword("with"):
		p.keyword("same", sameForm)
	case p.acceptKeyword("for"):
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

// keyField parses a field in a key, or two fields joined by "as".
func (p keyParser) keyField(of side) KeyField {
	f := p.field(sameForm)
	k := KeyField{Field: f, Other: f}
	if p.atComma() {
		return p.checkKeyField(k, of)
	}
	if at := p.line.peek(); p.acceptKeyword("as") {
		if !of.other {
			p.line.fail(BadKey, at, "write: for each path", `"as" names the field of another call, but this rule has no other call`)
		}
		g := p.field(sameForm)
		if k.Other = g; f.Result || of.first && !g.Result {
			k.Field, k.Other = g, f
		}
	}
	return p.checkKeyField(k, of)
}

// checkKeyField returns k. It reports an error if a field of k refers to a result that might not
// exist when the field is read.
func (p keyParser) checkKeyField(k KeyField, of side) KeyField {
	switch {
	case k.Field.Result:
		p.line.fail(BadKey, k.Field.at, "write: with same to as result.$.email", "a call has no result before it is made")
	case k.Other.Result && !of.result:
		p.line.fail(BadKey, k.Other.at, "write: per successful B", "only calls that succeed have a result")
	}
	return k
}

// field parses a field. Outside quotes, a comma ends it.
func (p keyParser) field(form string) Field {
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
		p.line.fail(Missing, t, form, "a field is missing; write $.%s for a field with this name", t.text)
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

// checkField rejects text that is neither a key nor a path.
func (p keyParser) checkField(t token, ofResult bool) {
	head, rest, dotted := strings.Cut(t.text, ".")
	switch {
	case isPath(t.text):
		p.path(t.off, t.end)
	case strings.Contains(t.text, `"`):
		p.line.fail(BadQuotes, t, "quote the whole expression", "a quote inside the field %s", t.text)
	case ofResult:
		p.line.fail(BadField, t, "write: result.$."+rest, "expected a path into the result, not %q", rest)
	case dotted && (head == "args" || head == "arguments"):
		p.line.fail(BadField, t, "write $."+rest+"; or quote the expression", "%q is not a field: a field is part of the arguments", t.text)
	case strings.HasPrefix(t.text, "$"):
		p.line.fail(BadField, t, "write $."+strings.TrimPrefix(t.text, "$"), "invalid path %q", t.text)
	case strings.ContainsAny(t.text, "*?"):
		p.line.fail(BadField, t, fieldForm, "%q is a pattern, not a field", t.text)
	}
}

// fieldStop returns the end of the bare field that begins at start.
func (p keyParser) fieldStop(start int) int {
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
func (p keyParser) expression(start int) Field {
	t := p.line.jsonString(start, "expression")
	p.line.off = t.end
	if !strings.HasPrefix(p.line.text[t.end:], ",") {
		t = p.line.checkSeparated(t, "expression")
	}
	return Field{Pos: p.line.position(start), Text: t.text, Expression: true, line: p.line, at: t}
}
