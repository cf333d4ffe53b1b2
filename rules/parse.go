package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// Parse parses a rules file. The file argument is the name used in positions. Parse returns a File
// with all valid statements, and a list of all errors, at most one per line. The list is empty if
// there are no errors.
func Parse(file string, src []byte) (*File, ErrorList) {
	return ParseAt(src, func(line, column int) gate.Position {
		return gate.Position{File: file, Line: line, Column: column}
	})
}

// ParseAt parses rules that are part of a larger file. The place function converts a line and a
// column in src to a position in that file. See [Parse].
func ParseAt(src []byte, place func(line, column int) gate.Position) (*File, ErrorList) {
	f := &File{Name: place(1, 1).File, source: make(map[Statement]*scanner)}
	for _, s := range scanLines(src, place) {
		p := parser{line: s}
		statement := p.statement()
		switch {
		case s.err != nil:
			f.errs = append(f.errs, s.err)
		case statement != nil:
			f.Statements = append(f.Statements, statement)
			f.source[statement] = s
		}
	}
	return f, f.errs
}

// scanLines returns a scanner for each line.
func scanLines(src []byte, place func(line, column int) gate.Position) []*scanner {
	text := strings.TrimPrefix(string(src), "\uFEFF") // editors do not count a byte order mark as a column
	var lines []*scanner
	for line := range strings.SplitSeq(text, "\n") {
		s := &scanner{place: place, number: len(lines) + 1, text: line}
		s.check()
		lines = append(lines, s)
	}
	return lines
}

// statement parses the line. It returns nil if the line is empty or has an error.
func (p *parser) statement() Statement {
	t := p.line.next()
	switch {
	case t.kind == atEnd:
		return nil
	case t.isWord("shadow"):
		return p.shadow(t)
	case t.isWord("allow"):
		return ruleParser{p}.allow(t)
	case t.isWord("map"):
		return p.mapping(t)
	case t.isWord("success"):
		return p.success(t)
	case t.isWord("example"):
		return p.example(t)
	case t.isWord("prove"):
		return p.prove(t)
	}
	return p.rule(t, Rule{Pos: p.line.position(t.off)})
}

// rule parses a statement that compiles to a net. t is its keyword.
func (p *parser) rule(t token, r Rule) Statement {
	switch {
	case t.isWord("require"):
		return ruleParser{p}.require(r)
	case t.isWord("block"):
		return ruleParser{p}.block(r)
	case t.isWord("limit"):
		return ruleParser{p}.limit(r)
	}
	p.unknownStatement(t)
	return nil
}

// ruleWords lists the keywords of statements that compile to a net. statementWords lists the
// keywords of all statements.
var (
	ruleWords      = []string{"require", "block", "limit"}
	statementWords = []string{"require", "block", "limit", "allow", "shadow", "map", "success", "example", "prove"}
)

func (p *parser) unknownStatement(t token) {
	hint := "begin a line with require, block, limit, allow, shadow, map, success, example or prove"
	if t.kind == bare {
		hint = cmp.Or(hintForKeyword(strings.ToLower(t.text)), text.Suggest(t.text, statementWords), hint)
	}
	p.line.fail(UnknownKeyword, t, hint, "unknown statement %q", p.line.text[t.off:t.end])
}

// hintForKeyword returns a hint for a keyword of another rule language.
func hintForKeyword(word string) string {
	switch word {
	case "deny", "forbid", "disallow", "reject", "refuse", "prohibit", "ban", "never":
		return "write: block A"
	case "permit", "accept", "grant":
		return "write: allow A"
	case "ask", "confirm", "approve", "approval", "human-approval":
		return "write: require human-approval before A"
	case "rate", "max", "at-most", "budget":
		return "write: limit A to 3 per session"
	case "only", "after", "before", "needs":
		return "write: require A before B"
	}
	return ""
}

// shadow parses a shadow rule, after the keyword "shadow".
func (p *parser) shadow(at token) Statement {
	t := p.line.next()
	switch {
	case t.kind == atEnd:
		p.line.fail(Missing, t, shadowForm, "the rule is missing")
	case t.isWord("allow"):
		p.line.fail(NoRule, t, "omit shadow", "allow refuses nothing, in shadow or not")
	case slices.Contains(statementWords, t.text) && !slices.Contains(ruleWords, t.text):
		p.line.fail(NoRule, t, "only require, block and limit can be in shadow", "%q is not a rule", p.line.text[t.off:t.end])
	}
	return p.rule(t, Rule{Pos: p.line.position(at.off), Shadow: true})
}
