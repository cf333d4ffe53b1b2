package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A parser parses the statement in a line.
type parser struct {
	line *scanner
	seen map[string]bool // entries of the current list, for detecting duplicates; nil while a list of names has fewer than two entries
}

// name parses a single name. If the name is missing, it fails with the given message.
func (p *parser) name(missing, form string) Name {
	t := p.line.next()
	if t.kind == atEnd {
		p.line.fail(Missing, t, form, "%s", missing)
	}
	return p.nameFrom(t)
}

func (p *parser) nameFrom(t token) Name {
	if t.kind == bare && len(t.text) > 1 && t.text[0] == '/' && t.text[len(t.text)-1] == '/' {
		p.line.fail(PatternName, t, "use a pattern in a map: map bash.command /rm/ as dangerous", "%q is not a name", t.text)
	}
	at := p.line.span(t.off, t.end)
	return Name{Pos: p.line.position(t.off), Text: t.text, Quoted: t.kind == quoted, span: at}
}

// names parses a list of one or more different names, separated by commas. The noun parameter
// describes a name in error messages, for example "place".
func (p *parser) names(noun, form string) []Name {
	return p.listOf(p.listItem, fmt.Sprintf("a %s is missing", noun), noun, form)
}

// list parses names separated by commas, and rejects duplicates. If there are no names, it fails
// with the given message. In an unquoted name, a comma is a separator only at the end of a word:
// "a, b" is two names, but "a,b" is a single name. Files that were written before lists existed
// rely on this.
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

// appendName appends a name. It rejects a duplicate.
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

// isRepeated reports whether the current list already contains the given entry, and records the
// entry in p.seen. If p.seen is nil, because the list was empty until now, isRepeated returns false
// and records nothing.
func (p *parser) isRepeated(text string) bool {
	again := p.seen[text]
	if p.seen != nil {
		p.seen[text] = true
	}
	return again
}

// listItem parses a name in a list. Any comma ends a bare name.
func (p *parser) listItem() token {
	return p.nameUpTo(func(start int) int {
		n := strings.IndexFunc(p.line.text[start:], func(r rune) bool { return r == ',' || r == '#' || isSeparator(r) })
		if n < 0 {
			return len(p.line.text)
		}
		return start + n
	})
}

// nameInList parses a name in a list. Only a comma at the end of a word ends a bare name.
func (p *parser) nameInList() token {
	return p.nameUpTo(func(start int) int {
		return start + len(strings.TrimRight(p.line.text[start:p.line.wordEnd(start)], ","))
	})
}

// nameUpTo parses a name in a list. The stop function returns the end of a bare name, given its
// start.
func (p *parser) nameUpTo(stop func(start int) int) token {
	start := p.line.skip(p.line.off)
	if strings.HasPrefix(p.line.text[start:], `"`) {
		t := p.line.readQuoted(start)
		p.line.off = t.end
		if !strings.HasPrefix(p.line.text[t.end:], ",") {
			return p.line.checkSeparated(t, "name")
		}
		return t
	}
	end := stop(start)
	p.line.off = end
	if end == start {
		return token{kind: atEnd, off: p.line.contentEnd(start), end: start}
	}
	return p.line.bare(start, end)
}

// comma parses an optional comma and reports whether it was present.
func (p *parser) comma() bool {
	if !p.atComma() {
		return false
	}
	p.line.off = p.line.skip(p.line.off) + 1
	return true
}

// atComma reports whether the next character is a comma.
func (p *parser) atComma() bool {
	return strings.HasPrefix(p.line.text[p.line.skip(p.line.off):], ",")
}

// keyword parses the given keyword, which must come next. If it does not, the error has the given
// hint.
func (p *parser) keyword(word, form string) {
	t := p.line.next()
	switch {
	case t.isWord(word):
	case t.kind == atEnd:
		p.line.fail(Missing, t, form, "%q is missing", word)
	case t.isCase(word):
		p.wrongCase(t, word)
	default:
		p.line.fail(Unexpected, t, form, "expected %q, not %q", word, p.line.text[t.off:t.end])
	}
}

// acceptKeyword parses the given keyword if it comes next, and reports whether it does.
func (p *parser) acceptKeyword(word string) bool {
	t := p.line.peek()
	if t.isCase(word) {
		p.wrongCase(t, word)
	}
	if !t.isWord(word) {
		return false
	}
	p.line.off = t.end
	return true
}

// end rejects anything that follows a statement. Its arguments are the keywords that the author
// might have meant.
func (p *parser) end(optional ...string) { p.endOf("", optional...) }

// endOf is like [parser.end], but its hints can also show the form of the rule, which lists the
// clauses in order.
func (p *parser) endOf(form string, optional ...string) {
	t := p.line.peek()
	if t.kind == atEnd {
		return
	}
	hint := "write one statement per line; begin a comment with #"
	if t.kind == bare {
		hint = cmp.Or(clauseHint(t.text, form), text.Suggest(t.text, optional), hint)
	}
	p.line.fail(Trailing, t, hint, "unexpected %q after the statement", p.line.text[t.off:t.end])
}

// clauses lists the keywords that begin a clause of a rule.
var clauses = []string{"once", "since", "after", "until", "with", "for", "unless", "via", "because"}

// clauseHint returns a hint for an unexpected word after a rule, or "". It recognizes the keywords
// of rules, and words such as "except" that authors write instead. For a keyword, the hint is the
// given form, which shows the rule's clauses in order.
func clauseHint(word, form string) string {
	if form == "" {
		return ""
	}
	switch strings.ToLower(word) {
	case "and", "or", "&", "&&", "|", "||":
		return "separate names with commas"
	case "same", "foreach", "each", "every", "by", "grouped", "where", "with-same", "for-each":
		return "distinguish calls by a field: with same path, or in a limit: for each path"
	case "when", "if", "==", "!=", "=", "<", ">", "<=", ">=":
		return `name the calls first: map tool when "args.amount > 100" as name`
	case "except", "excluding", "but", "besides", "save":
		return "write: unless A, B"
	case "of":
		return sumForm
	case "within":
		if form == requireClauses {
			return withinHint
		}
	case "following", "afterwards":
		return afterForm
	}
	if slices.Contains(clauses, strings.ToLower(word)) {
		return form
	}
	return ""
}

// quotedText parses a quoted string, which must come next. The what parameter describes the string
// in error messages, for example "reason".
func (p *parser) quotedText(what, form string) token {
	start := p.line.skip(p.line.off)
	if !strings.HasPrefix(p.line.text[start:], `"`) {
		if t := p.line.peek(); t.kind == atEnd {
			p.line.fail(Missing, t, form, "the %s is missing", what)
		} else {
			p.line.fail(Unexpected, t, form, "the %s must be in quotes", what)
		}
		return token{}
	}
	t := p.line.checkSeparated(p.line.jsonString(start, what), what)
	p.line.off = t.end
	return t
}

func (p *parser) wrongCase(t token, keyword string) {
	hint := fmt.Sprintf("write %s; quote a name that looks like it", keyword)
	p.line.fail(WrongCase, t, hint, "the keyword %q is written %q", keyword, t.text)
}

// count parses a number of calls, written in plain decimal digits.
func (p *parser) count(form string) int {
	t := p.line.next()
	if t.kind == atEnd {
		p.line.fail(Missing, t, form, "the count is missing")
		return 0
	}
	return p.countAt(t)
}

func (p *parser) countAt(t token) int {
	n, err := strconv.ParseInt(t.text, 10, 32)
	if t.kind != bare || err != nil || n < 1 || strconv.FormatInt(n, 10) != t.text {
		hint := fmt.Sprintf("use a whole number from 1 to %d, in plain digits", math.MaxInt32)
		if f, err := strconv.ParseFloat(t.text, 64); err == nil && f > 0 && f < math.MaxInt32 && f != math.Trunc(f) {
			hint = fmt.Sprintf("use a whole number, such as %d", max(1, int(f)))
		}
		p.line.fail(BadCount, t, hint, "invalid count %q", p.line.text[t.off:t.end])
		return 0
	}
	return int(n)
}
