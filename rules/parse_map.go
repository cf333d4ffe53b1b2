package rules

import (
	"errors"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// mapping parses the words after "map": the target, the pattern and the name that the map gives.
func (p *parser) mapping(at token) Statement {
	m := &Map{Pos: p.line.position(at.off)}
	m.Tools, m.Field = p.target(mapForm)
	if m.Field == "" {
		m.Pattern = patternParser{p}.parseWhen()
	} else {
		m.Pattern = patternParser{p}.pattern()
	}
	p.keyword("as", mapForm)
	m.As = p.name("the name that the map defines is missing", mapForm)
	p.end()
	return m
}

// target parses the target of a map or example: tools separated by commas, and an argument field.
// The first dot outside quotes begins the field. The field is empty if an expression or an argument
// object follows the tools.
func (p *parser) target(form string) (tools []Name, field string) {
	for {
		tool, end := p.targetTool(form)
		if p.line.err != nil {
			return nil, ""
		}
		if p.line.off = end; !p.commaAfterTool(&tool) {
			field = p.targetField(tool, end)
			return p.appendName(tools, tool, "tool", form), field
		}
		tools = p.appendName(tools, tool, "tool", form)
	}
}

// commaAfterTool reports whether a comma and another tool follow a tool. If so, it consumes the
// comma, even if the comma is attached to the tool's name.
func (p *parser) commaAfterTool(tool *token) bool {
	if tool.kind == bare && len(tool.text) > 1 && p.line.off == p.line.wordEnd(tool.off) {
		if name, comma := strings.CutSuffix(tool.text, ","); comma {
			tool.text, tool.end = name, tool.end-1
			return true
		}
	}
	return !strings.HasPrefix(p.line.text[p.line.off:], ".") && p.comma()
}

// targetField parses the field that follows the tool's name.
func (p *parser) targetField(tool token, end int) string {
	whole := token{off: tool.off, end: p.fieldEnd(end)}
	p.line.off = whole.end
	field, dotted := strings.CutPrefix(p.line.text[end:whole.end], ".")
	switch {
	case !dotted && whole.end == end && tool.text != "" && p.wholeCall():
	case !dotted && p.line.peek().isCase("when"):
		p.wrongCase(p.line.peek(), "when")
	case strings.HasSuffix(p.line.text[:whole.end], ",") || p.toolFollows():
		p.line.fail(BadOperand, whole, "put the field after the last tool: A, B.field; quote a tool with a dot in its name", "a field before another tool: %q", p.line.text[whole.off:whole.end])
	case !dotted:
		p.line.fail(BadOperand, whole, "such as bash.command", "expected tool.field, not %q", p.line.text[whole.off:whole.end])
	case tool.text == "" || field == "":
		p.line.fail(BadOperand, whole, "such as bash.command", "the tool and the field must not be empty in %q", p.line.text[whole.off:whole.end])
	case isPath(field):
		p.path(end+1, whole.end)
	case strings.Contains(field, `"`):
		p.line.fail(BadQuotes, token{off: end + 1, end: whole.end}, "only the tool may be quoted", "a quote inside the field %s", field)
	}
	return field
}

// toolFollows reports whether a comma and another tool follow. If "as" follows the comma, the comma
// is the word that the map statement looks for.
func (p *parser) toolFollows() bool {
	rest, comma := strings.CutPrefix(p.line.text[p.line.skip(p.line.off):], ",")
	word, _, _ := strings.Cut(strings.TrimLeftFunc(rest, isSeparator), " ")
	return comma && strings.HasPrefix(rest, " ") && word != "as"
}

// wholeCall reports whether the next word is "when" or an argument object, so that the statement
// concerns the whole call rather than a field.
func (p *parser) wholeCall() bool {
	return strings.HasPrefix(p.line.text[p.line.skip(p.line.off):], "{") || p.line.peek().isWord("when")
}

// targetTool parses a tool in the target of a map or example, and returns the offset of its end.
func (p *parser) targetTool(form string) (token, int) {
	start := p.line.skip(p.line.off)
	switch {
	case start == len(p.line.text) || p.line.text[start] == '#':
		p.line.fail(Missing, token{off: p.line.contentEnd(start)}, form, "the tool and its field are missing")
		return token{}, 0
	case p.line.text[start] == '"':
		t := p.line.readQuoted(start)
		return t, t.end
	}
	end := p.line.wordEnd(start)
	if i := strings.IndexByte(p.line.text[start:end], '.'); i >= 0 {
		end = start + i
	}
	t := token{kind: bare, text: p.line.text[start:end], off: start, end: end}
	if strings.Contains(t.text, `"`) {
		p.line.fail(BadQuotes, t, "quote the whole tool", "a quote inside the tool %s", t.text)
	}
	return t, end
}

// fieldEnd returns the end offset of the field at the given offset. A dot may precede the field. In
// a path, quoted keys may contain separators.
func (p *parser) fieldEnd(off int) int {
	if !isPath(strings.TrimPrefix(p.line.text[off:], ".")) {
		return p.line.wordEnd(off)
	}
	for {
		end := p.line.wordEnd(off)
		quote := strings.Index(p.line.text[off:end], `["`)
		if quote < 0 {
			return end
		}
		after := stringEnd(p.line.text, off+quote+1)
		if after < 0 {
			return end
		}
		off = after
	}
}

// path validates the path between two offsets.
func (p *parser) path(from, to int) {
	_, err := toolnet.ParsePath(p.line.text[from:to])
	if bad, ok := errors.AsType[*toolnet.PathError](err); ok {
		at := min(from+bad.Offset, to)
		p.line.fail(BadPath, token{off: at, end: to}, "such as $.request.method, $.files[*].path or $[\"odd key\"]", "%s", bad.Msg)
	}
}

// success parses the words after "success": the tools and the condition on their results.
func (p *parser) success(at token) Statement {
	s := &Success{Pos: p.line.position(at.off)}
	s.Tools = p.list("the tool is missing", "tool", successForm)
	s.Condition = patternParser{p}.whenOf(successForm)
	p.end()
	return s
}
