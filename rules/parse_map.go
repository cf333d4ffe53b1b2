package rules

import (
	"errors"
	"fmt"
	"strings"
)

// mapping reads a map.
func (s *scanner) mapping(at token) Statement {
	tool, field := s.target()
	pattern := s.pattern()
	s.keyword("as", mapForm, "")
	as := s.name("the name that the map gives is missing", mapForm)
	s.end()
	return &Map{Pos: s.position(at.off), Tool: tool, Field: field, Pattern: pattern, As: as}
}

// target reads the T.F of a map: the first dot outside quotes divides it.
func (s *scanner) target() (Name, string) {
	tool, end := s.targetTool()
	if s.err != nil {
		return Name{}, ""
	}
	whole := token{off: tool.off, end: s.wordEnd(end)}
	s.off = whole.end
	rest := s.text[end:whole.end]
	field, dotted := strings.CutPrefix(rest, ".")
	switch {
	case !dotted && s.peek().is("when"):
		s.notSupported(s.peek(), "when")
	case !dotted:
		s.fail(BadOperand, whole, "such as bash.command", "expected tool.field, not %q", s.text[whole.off:whole.end])
	case tool.text == "" || field == "":
		s.fail(BadOperand, whole, "such as bash.command", "the tool and the field must not be empty in %q", s.text[whole.off:whole.end])
	case strings.HasPrefix(field, "$."):
		s.notSupported(token{off: end + 1, end: whole.end}, "$.")
	case strings.Contains(field, `"`):
		s.fail(BadQuotes, token{off: end + 1, end: whole.end}, "only the tool may be quoted", "a quote inside the field %s", field)
	}
	name := s.named(tool)
	if name.Glob() {
		s.fail(MapGlob, tool, "write one map for each tool", "a map takes the exact name of a tool, not the pattern %q", name.Text)
	}
	return name, field
}

// targetTool reads the T of a map, and says where it ends.
func (s *scanner) targetTool() (token, int) {
	start := s.skip(s.off)
	switch {
	case start == len(s.text) || s.text[start] == '#':
		s.fail(Missing, token{off: s.contentEnd(start)}, mapForm, "the tool and its field are missing")
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
		s.fail(BadQuotes, t, "a quoted tool stands in quotes as a whole", "a quote inside the tool %s", t.text)
	}
	return t, end
}

// pattern reads the word or the regex of a map.
func (s *scanner) pattern() Pattern {
	if s.err != nil {
		return Pattern{}
	}
	start := s.skip(s.off)
	if strings.HasPrefix(s.text[start:], "/") {
		return s.slash(start)
	}
	if strings.HasPrefix(s.text[start:], `"`) {
		end := s.wordEnd(start)
		s.fail(QuotedWord, token{off: start, end: end}, `write /git push/ for text with spaces`, "a word is not quoted: %s", s.text[start:end])
		return Pattern{}
	}
	return s.word()
}

// word reads a bare word. A "runs" or "when" is one only where "as" follows.
func (s *scanner) word() Pattern {
	t := s.next()
	if t.kind == atEnd {
		s.fail(Missing, t, mapForm, "the word or regex to look for is missing")
		return Pattern{}
	}
	if (t.text == "runs" || t.text == "when") && !s.peek().is("as") {
		s.notSupported(t, t.text)
	}
	return Pattern{Pos: s.position(t.off), Text: t.text, column: s.column(t.off), match: MatchWord(t.text)}
}

// slash reads what begins with a slash: a regex if it is closed, a word such
// as /etc otherwise. A slash further on the line, in a name or a comment, may
// look like the closing one; where both readings make a statement, neither is
// taken.
func (s *scanner) slash(start int) Pattern {
	wordEnd := s.wordEnd(start)
	closing := s.closing(start)
	if closing >= 0 && closing < wordEnd {
		return s.regex(start, closing)
	}
	isWord := s.endsAsMap(wordEnd)
	isRegex := closing >= 0 && s.endsAsMap(s.wordEnd(closing))
	switch {
	case isWord && isRegex:
		s.fail(AmbiguousRegex, token{off: start, end: start + 1}, `write \/ for a slash that closes nothing`, "this can be read as a word and as a regex")
		return Pattern{}
	case isWord || closing < 0:
		return s.openSlash()
	default:
		return s.regex(start, closing)
	}
}

// openSlash reads a word that begins with a slash, and says so where a regex
// was meant and not closed.
func (s *scanner) openSlash() Pattern {
	t := s.peek()
	p := s.word()
	escaped := len(t.text) > 1 && strings.HasSuffix(t.text, "/")
	if after := s.peek(); escaped || after.kind != atEnd && !after.is("as") {
		s.fail(BadRegex, t, "a regex ends with a slash", "the regex is not closed")
	}
	return p
}

// closing is the offset of the slash that closes the regex that begins at
// start, or -1.
func (s *scanner) closing(start int) int {
	for i := start + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '/':
			return i
		}
	}
	return -1
}

// endsAsMap reports whether the line reads "as NAME" from off to its end.
func (s *scanner) endsAsMap(off int) bool {
	look := &scanner{place: s.place, text: s.text, off: off}
	return look.next().is("as") && look.next().kind != atEnd && look.next().kind == atEnd && look.err == nil
}

// regex reads /expression/ or /expression/i.
func (s *scanner) regex(start, closing int) Pattern {
	end := s.wordEnd(closing)
	s.off = end
	tail := token{off: closing + 1, end: end}
	p := Pattern{Pos: s.position(start), Text: s.text[start+1 : closing], Regex: true, column: s.column(start)}
	switch s.text[tail.off:tail.end] {
	case "":
	case "i":
		p.Fold = true
	default:
		s.fail(RegexTail, tail, `/regex/ or /regex/i; a slash inside is written \/`, "unexpected %q after the regex", s.text[tail.off:tail.end])
		return Pattern{}
	}
	re, err := compileRegex(p.Text, p.Fold)
	if err != nil {
		s.badRegex(token{off: start, end: end}, err)
		return Pattern{}
	}
	p.match = quickly(re)
	return p
}

func (s *scanner) badRegex(t token, err error) {
	code, hint := BadRegex, ""
	switch {
	case errors.Is(err, errEmptyRegex):
		code, hint = EmptyRegex, mapForm
	case errors.Is(err, errLargeRegex):
		code = LargeRegex
	case strings.Contains(s.text[t.off:t.end], "(?"):
		hint = "RE2 has no look-around and no back-references"
	}
	s.fail(code, t, hint, "%s", fmt.Sprint(err))
}
