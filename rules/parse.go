package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// Parse parses a rules file. file is its name in positions. The File has all valid statements. The
// list has all errors, at most one for each line; it is empty if there are no errors.
func Parse(file string, src []byte) (*File, ErrorList) {
	return ParseAt(src, func(line, column int) gate.Position {
		return gate.Position{File: file, Line: line, Column: column}
	})
}

// ParseAt parses a text that is part of a larger file. place converts a line and a column of the
// text to a position in that file. See [Parse].
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
	text := strings.TrimPrefix(string(src), "\uFEFF") // editors count no column for it
	var lines []*scanner
	for line := range strings.SplitSeq(text, "\n") {
		s := &scanner{place: place, number: len(lines) + 1, text: line}
		s.check()
		lines = append(lines, s)
	}
	return lines
}

// Forms of statements for hints.
const (
	requireForm    = "write: require A before B"
	orForm         = "write: require A or B before C, or: require A, B before C"
	approveForm    = "write: require human-approval before B"
	personsForm    = "write: require 2 human-approvals before A"
	viaForm        = "write: require human-approval via cli before B"
	blockForm      = "write: block A"
	limitForm      = "write: limit A to 3 per session"
	atOnceForm     = "write: limit A to 1 at once"
	inARowForm     = "write: limit A to 3 in a row"
	sumForm        = "write: limit A to 1000 of amount per day"
	userForm       = "write: per user per day"
	allowForm      = "write: allow A, B"
	sinceForm      = "write: require A before B since C"
	afterForm      = "write: block B after A until C"
	successfulForm = "write: limit A to 3 per successful B; quote a tool named successful"
	unlessForm     = "write: unless A, B"
	becauseForm    = `write: because "Use another tool instead."`
	mapForm        = "write: map tool.field word as name"
	runsForm       = "write: map tool.field runs command as name"
	readsForm      = "write: map tool.field reads .env* as name"
	whenForm       = `write: map tool when "args.amount > 100" as name`
	successForm    = `write: success tool when "result.exitCode == 0"`
	exampleForm    = `write: example tool.field "text" as name, or: not as name`
	shadowForm     = "write: shadow block A"
)

// A parser parses the statement of one line.
type parser struct {
	line *scanner
	seen map[string]bool // names or fields of the current list, if it has several
}

// statement parses the line. It returns nil if the line is empty or has an error.
func (p *parser) statement() Statement {
	t := p.line.next()
	switch {
	case t.kind == atEnd:
		return nil
	case t.is("shadow"):
		return p.shadow(t)
	case t.is("allow"):
		return ruleParser{p}.allow(t)
	case t.is("map"):
		return p.mapping(t)
	case t.is("success"):
		return p.success(t)
	case t.is("example"):
		return p.example(t)
	case t.is("prove"):
		return p.prove(t)
	}
	return p.rule(t, Rule{Pos: p.line.position(t.off)})
}

// rule parses a statement that compiles to a net; t is its keyword.
func (p *parser) rule(t token, r Rule) Statement {
	switch {
	case t.is("require"):
		return ruleParser{p}.require(r)
	case t.is("block"):
		return ruleParser{p}.block(r)
	case t.is("limit"):
		return ruleParser{p}.limit(r)
	}
	p.unknownStatement(t)
	return nil
}

// ruleWords are the keywords of statements that compile to a net, statementWords those of all
// statements.
var (
	ruleWords      = []string{"require", "block", "limit"}
	statementWords = []string{"require", "block", "limit", "allow", "shadow", "map", "success", "example", "prove"}
)

func (p *parser) unknownStatement(t token) {
	hint := "a line begins with require, block, limit, allow, shadow, map, success, example or prove"
	if t.kind == bare {
		hint = cmp.Or(hintForKeyword(strings.ToLower(t.text)), text.Suggest(t.text, statementWords), hint)
	}
	p.line.fail(UnknownKeyword, t, hint, "unknown statement %q", p.line.text[t.off:t.end])
}

// hintForKeyword returns a hint for a keyword of other rule languages.
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

// name parses one name.
func (p *parser) name(missing, form string) Name {
	t := p.line.next()
	if t.kind == atEnd {
		p.line.fail(Missing, t, form, "%s", missing)
	}
	return p.nameFrom(t)
}

func (p *parser) nameFrom(t token) Name {
	if t.kind == bare && len(t.text) > 1 && t.text[0] == '/' && t.text[len(t.text)-1] == '/' {
		p.line.fail(PatternName, t, "patterns belong to map: map bash.command /rm/ as dangerous", "%q is not a name", t.text)
	}
	at := p.line.span(t.off, t.end)
	return Name{Pos: p.line.position(t.off), Text: t.text, Quoted: t.kind == quoted, span: at}
}

// names parses names separated by commas, without duplicates.
func (p *parser) names(noun, form string) []Name {
	return p.listOf(p.listItem, fmt.Sprintf("a %s is missing", noun), noun, form)
}

// list parses the names of a rule, without duplicates. missing is the message if there are no
// names. A comma ends a bare name only at the end of a word: "a, b" are two names, but "a,b" is one
// name, for compatibility with files from before lists existed.
func (p *parser) list(missing, noun, form string) []Name {
	return p.listOf(p.nameInList, missing, noun, form)
}

// listOf parses names separated by commas.
func (p *parser) listOf(read func() token, missing, noun, form string) []Name {
	var names []Name
	for {
		t := read()
		if t.text == "" {
			p.line.fail(Missing, t, form, "%s", missing)
			return nil
		}
		if names = p.appendName(names, t, noun, form); !p.comma() {
			return names
		}
		missing = fmt.Sprintf("a %s is missing", noun)
	}
}

// appendName appends a name, which must not be a duplicate.
func (p *parser) appendName(names []Name, t token, noun, form string) []Name {
	n := p.nameFrom(t)
	switch len(names) {
	case 0:
		p.seen = nil
	case 1:
		p.seen = map[string]bool{names[0].Text: true}
	}
	if p.isRepeated(n.Text) {
		p.line.fail(Unexpected, t, form, "the %s %s is named twice", noun, n)
	}
	return append(names, n)
}

// isRepeated reports whether the current list already has the text.
func (p *parser) isRepeated(text string) bool {
	again := p.seen[text]
	if p.seen != nil {
		p.seen[text] = true
	}
	return again
}

// keyword parses a required keyword.
func (p *parser) keyword(word, form string) {
	t := p.line.next()
	switch {
	case t.is(word):
	case t.kind == atEnd:
		p.line.fail(Missing, t, form, "%q is missing", word)
	case t.isCase(word):
		p.wrongCase(t, word)
	default:
		p.line.fail(Unexpected, t, form, "expected %q, not %q", word, p.line.text[t.off:t.end])
	}
}

// optional parses an optional keyword and reports whether it was present.
func (p *parser) optional(word string) bool {
	t := p.line.peek()
	if t.isCase(word) {
		p.wrongCase(t, word)
	}
	if !t.is(word) {
		return false
	}
	p.line.off = t.end
	return true
}

// end refuses anything after a statement. optional lists the keywords that the author might have
// meant.
func (p *parser) end(optional ...string) { p.endOf("", optional...) }

// endOf is like end, for a rule. form shows the clauses of the rule in their order.
func (p *parser) endOf(form string, optional ...string) {
	t := p.line.peek()
	if t.kind == atEnd {
		return
	}
	hint := "one statement a line; a comment begins with #"
	if t.kind == bare {
		hint = cmp.Or(clauseHint(t.text, form), text.Suggest(t.text, optional), hint)
	}
	p.line.fail(Trailing, t, hint, "unexpected %q after the statement", p.line.text[t.off:t.end])
}

// clauses are the keywords that begin a clause of a rule.
var clauses = []string{"once", "since", "after", "until", "with", "for", "unless", "via", "because"}

// clauseHint returns a hint for a keyword of another clause, or for a word that people write in
// place of a clause.
func clauseHint(word, form string) string {
	if form == "" {
		return ""
	}
	switch strings.ToLower(word) {
	case "and", "or", "&", "&&", "|", "||":
		return "a comma stands between names"
	case "same", "foreach", "each", "every", "by", "grouped", "where", "with-same", "for-each":
		return "calls are told apart by a field: with same path, or in a limit: for each path"
	case "when", "if", "==", "!=", "=", "<", ">", "<=", ">=":
		return `name the calls first: map tool when "args.amount > 100" as name`
	case "except", "excluding", "but", "besides", "save":
		return "write: unless A, B"
	case "of":
		return sumForm
	case "within":
		if form == requireClauses {
			return within
		}
	case "following", "afterwards":
		return afterForm
	}
	if slices.Contains(clauses, strings.ToLower(word)) {
		return form
	}
	return ""
}

func (p *parser) wrongCase(t token, keyword string) {
	hint := fmt.Sprintf("write %s; quote a name that looks like it", keyword)
	p.line.fail(WrongCase, t, hint, "the keyword %q is written %q", keyword, t.text)
}
