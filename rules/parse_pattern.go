package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A patternParser parses the pattern of a map or condition.
type patternParser struct{ *parser }

// pattern parses a map's pattern: a regex, a word, or a keyword such as "runs" with its arguments.
func (p patternParser) pattern() Pattern {
	if p.line.err != nil {
		return Pattern{}
	}
	start := p.line.skip(p.line.off)
	if strings.HasPrefix(p.line.text[start:], "/") {
		return p.slash(start)
	}
	if strings.HasPrefix(p.line.text[start:], `"`) {
		end := p.line.wordEnd(start)
		p.line.fail(QuotedWord, token{off: start, end: end}, `write /git push/ for text with spaces`, "a word must not be quoted: %s", p.line.text[start:end])
		return Pattern{}
	}
	return p.word()
}

// word parses a bare word. Keywords such as "runs" are words only if "as" follows.
func (p patternParser) word() Pattern {
	t := p.line.next()
	if t.kind == atEnd {
		p.line.fail(Missing, t, mapForm, "the word or regex to look for is missing")
		return Pattern{}
	}
	if !p.line.peek().isWord("as") {
		switch {
		case t.isWord("runs"):
			return p.parseRuns(t)
		case t.isWord("reads"):
			return p.words(Reads, t, "the file pattern is missing", readsForm)
		case t.isWord("writes"):
			return p.words(Writes, t, "the file pattern is missing", readsForm)
		case t.isWord("when"):
			p.line.fail(BadOperand, t, `write: map tool when "..." as name; quote a tool with a dot in its name`, `"when" reads the whole call and does not accept a field`)
		case slices.ContainsFunc(patternWords[Runs:], t.isCase):
			p.wrongCase(t, strings.ToLower(t.text))
		default:
			p.rejectLikeKeyword(t)
		}
	}
	found := p.patternAt(t.off, t.end)
	found.Text, found.match = t.text, MatchWord(t.text)
	return found
}

// otherForms holds words that authors write instead of pattern keywords, with the correct keyword
// for each.
var otherForms = map[string]string{
	"run": "runs", "running": "runs", "execute": "runs", "executes": "runs", "exec": "runs", "starts": "runs", "read": "reads", "write": "writes",
}

// rejectLikeKeyword rejects a word that resembles a pattern keyword and is followed by other words.
func (p patternParser) rejectLikeKeyword(t token) {
	word := strings.ToLower(t.text)
	hint := text.Suggest(word, patternWords[Runs:])
	if meant := otherForms[word]; meant != "" {
		hint = fmt.Sprintf("did you mean %q?", meant)
	}
	if next := p.line.peek(); hint != "" && next.kind != atEnd {
		p.line.fail(Unexpected, t, hint, `expected "as" after the word %s, not %q`, t.text, next.text)
	}
}

// patternAt returns a pattern with only its position set. The arguments are its start and end
// offsets in the line.
func (p patternParser) patternAt(from, to int) Pattern {
	return Pattern{Pos: p.line.position(from), line: p.line, written: token{off: from, end: to}}
}

// parseRuns parses the command after "runs". The word "exactly" is the command's program only if
// "as" follows it.
func (p patternParser) parseRuns(at token) Pattern {
	start := p.line.off
	exactly := p.line.next().isWord("exactly") && !p.line.peek().isWord("as")
	if !exactly {
		p.line.off = start
	}
	found := p.words(Runs, at, "the command to look for is missing", runsForm)
	found.Exactly = exactly
	return found
}

// words parses a pattern's words, up to "as". Words may be quoted.
func (p patternParser) words(kind PatternKind, at token, missing, form string) Pattern {
	found := Pattern{Kind: kind, argument: p.line.peek()}
	last := at
	for !p.line.peek().isWord("as") {
		t := p.line.next()
		switch {
		case t.kind == atEnd && len(found.Words) == 0:
			p.line.fail(Missing, t, form, "%s", missing)
			return Pattern{}
		case t.kind == atEnd:
			p.line.fail(Missing, t, form, `"as" is missing`)
			return Pattern{}
		case kind == Runs:
			p.rejectListEntry(found.Words, t)
			p.rejectOperator(t)
		}
		found.Words, last = append(found.Words, t.text), t
	}
	at.end = last.end
	found.Pos, found.line, found.written, found.Text = p.line.position(at.off), p.line, at, joinWords(found.Words)
	return found
}

// rejectListEntry rejects a word that looks like an entry in an agent's permission list. Its hint
// suggests words with the same meaning in a map statement. The before argument contains the
// preceding words of the command. A word that really ends in :* must be quoted.
func (p patternParser) rejectListEntry(before []string, t token) {
	list, hint := ruleOfAgent.FindStringSubmatch(p.line.text[t.off:]), ""
	switch {
	case len(before) == 0 && list != nil:
		t.text, t.end = list[1], t.off+len(list[0])
	case !strings.HasSuffix(t.text, ":*") || t.kind == quoted && !strings.Contains(t.text, " "):
		return
	case len(before) > 0:
		hint = "; quote a word that ends in :*"
	}
	words := append(slices.Clone(before), strings.Fields(strings.ReplaceAll(t.text, ":*", " *"))...)
	p.line.fail(BadCommand, t, "write: runs "+joinWords(words)+hint, "%s is the syntax of an agent's permission list; a map uses plain words", p.line.text[t.off:t.end])
}

// ruleOfAgent matches a command rule in an agent's permission list, such as Bash(git push:*).
var ruleOfAgent = regexp.MustCompile(`^"?[A-Za-z_]+\(([^()]*)\)"?`)

// rejectOperator rejects a word that joins several commands, because a map looks for a single
// command.
func (p patternParser) rejectOperator(t token) {
	if t.kind == bare && slices.Contains(operators, t.text) {
		p.line.fail(BadCommand, t, "write one map per command; if part of it is an argument, put it in quotes", "a map looks for one command; %q joins several", t.text)
	}
}

// parseWhen parses an expression about the whole call.
func (p patternParser) parseWhen() Pattern { return p.whenOf(whenForm) }

// whenOf parses the keyword "when" and an expression. The argument is the form of the statement,
// for use in hints.
func (p patternParser) whenOf(form string) Pattern {
	at := p.line.peek()
	p.keyword("when", form)
	if p.line.err != nil {
		return Pattern{}
	}
	t := p.quotedText("expression", form)
	found := p.patternAt(at.off, t.end)
	found.Kind, found.Text, found.argument = When, t.text, t
	return found
}

// slash parses a pattern that begins with a slash. The pattern is a regex if there is a closing
// slash, and otherwise a word such as /etc. A later slash, in a name or a comment, may look like
// the closing slash. If both readings are valid, slash rejects the line.
func (p patternParser) slash(start int) Pattern {
	wordEnd := p.line.wordEnd(start)
	closing := p.closingSlash(start)
	if closing >= 0 && closing < wordEnd {
		return p.regex(start, closing)
	}
	isWord := p.endsAsMap(wordEnd)
	isRegex := closing >= 0 && p.endsAsMap(p.line.wordEnd(closing))
	switch {
	case isWord && isRegex:
		p.line.fail(AmbiguousRegex, token{off: start, end: start + 1}, `write \/ for a slash inside the regex`, "this can be read as a word or as a regex")
		return Pattern{}
	case isWord || closing < 0:
		return p.openSlash()
	default:
		return p.regex(start, closing)
	}
}

// openSlash parses a word that begins with a slash, or reports an unclosed regex.
func (p patternParser) openSlash() Pattern {
	t := p.line.peek()
	found := p.word()
	escaped := len(t.text) > 1 && strings.HasSuffix(t.text, "/")
	if after := p.line.peek(); escaped || after.kind != atEnd && !after.isWord("as") {
		p.line.fail(BadRegex, t, "a regex ends with a slash", "the regex is not closed")
	}
	return found
}

// closingSlash returns the offset of the slash that closes the regex at start, or -1.
func (p patternParser) closingSlash(start int) int {
	for i := start + 1; i < len(p.line.text); i++ {
		switch p.line.text[i] {
		case '\\':
			i++
		case '/':
			return i
		}
	}
	return -1
}

// endsAsMap reports whether only "as NAME" follows offset off, as at the end of a map statement.
func (p patternParser) endsAsMap(off int) bool {
	look := &scanner{place: p.line.place, text: p.line.text, off: off}
	return look.next().isWord("as") && look.next().kind != atEnd && look.next().kind == atEnd && look.err == nil
}

// regex parses /expression/ or /expression/i.
func (p patternParser) regex(start, closing int) Pattern {
	end := p.line.wordEnd(closing)
	p.line.off = end
	tail := token{off: closing + 1, end: end}
	found := p.patternAt(start, end)
	found.Kind, found.Text = Regex, p.line.text[start+1:closing]
	switch p.line.text[tail.off:tail.end] {
	case "":
	case "i":
		found.Fold = true
	default:
		p.line.fail(RegexTail, tail, `/regex/ or /regex/i; a slash inside is written \/`, "unexpected %q after the regex", p.line.text[tail.off:tail.end])
		return Pattern{}
	}
	match, err := compileRegex(found.Text, found.Fold)
	if err != nil {
		p.badRegex(token{off: start, end: end}, err)
		return Pattern{}
	}
	found.match = match
	return found
}

func (p patternParser) badRegex(t token, err error) {
	code, hint := BadRegex, ""
	switch {
	case errors.Is(err, errEmptyRegex):
		code, hint = EmptyRegex, mapForm
	case errors.Is(err, errLargeRegex):
		code = LargeRegex
	case strings.Contains(p.line.text[t.off:t.end], "(?"):
		hint = "RE2 has no lookaround and no backreferences"
	}
	p.line.fail(code, t, hint, "%v", err)
}
