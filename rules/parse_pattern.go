package rules

import (
	"errors"
	"fmt"
	"strings"
)

// pattern reads the pattern of a map.
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

// word reads a bare word. "runs" and "when" are words only if "as" follows.
func (s *scanner) word() Pattern {
	t := s.next()
	if t.kind == atEnd {
		s.fail(Missing, t, mapForm, "the word or regex to look for is missing")
		return Pattern{}
	}
	if !s.peek().is("as") {
		switch {
		case t.is("runs"):
			return s.runs(t)
		case t.is("when"):
			s.fail(BadOperand, t, `write: map tool when "..." as name; quote a tool with a dot in its name`, `"when" reads the whole call and does not take a field`)
		case t.isCase("runs") || t.isCase("when"):
			s.wrongCase(t, strings.ToLower(t.text))
		}
	}
	p := s.patternAt(t.off, t.end)
	p.Text, p.match = t.text, MatchWord(t.text)
	return p
}

// patternAt returns the pattern between two offsets.
func (s *scanner) patternAt(from, to int) Pattern {
	return Pattern{Pos: s.position(from), line: s, written: token{off: from, end: to}}
}

// runs reads the words of a command, up to "as". A word can be quoted.
func (s *scanner) runs(at token) Pattern {
	var words []string
	first, last := s.peek(), at
	for {
		t := s.peek()
		switch {
		case t.kind == atEnd && len(words) == 0:
			s.fail(Missing, t, runsForm, "the command to look for is missing")
			return Pattern{}
		case t.kind == atEnd:
			s.fail(Missing, t, runsForm, `"as" is missing`)
			return Pattern{}
		case t.is("as"):
			p := s.patternAt(at.off, last.end)
			p.Kind, p.Words, p.Text, p.argument = Runs, words, joinWords(words), first
			return p
		}
		words = append(words, t.text)
		s.off, last = t.end, t
	}
}

// when reads an expression about the whole call.
func (s *scanner) when() Pattern {
	at := s.peek()
	s.keyword("when", whenForm)
	if s.err != nil {
		return Pattern{}
	}
	start := s.skip(s.off)
	if !strings.HasPrefix(s.text[start:], `"`) {
		if t := s.peek(); t.kind == atEnd {
			s.fail(Missing, t, whenForm, "the expression is missing")
		} else {
			s.fail(Unexpected, t, whenForm, "the expression must be in quotes")
		}
		return Pattern{}
	}
	t := s.whole(s.jsonString(start, "expression"), "expression")
	s.off = t.end
	p := s.patternAt(at.off, t.end)
	p.Kind, p.Text, p.argument = When, t.text, t
	return p
}

// slash reads a pattern that begins with a slash: a regex if it is closed, a word
// such as /etc otherwise. A later slash of the line, in a name or a comment, may
// look like the closing one; if both readings are valid, it refuses the line.
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

// openSlash reads a word that begins with a slash, or reports a regex that is not
// closed.
func (s *scanner) openSlash() Pattern {
	t := s.peek()
	p := s.word()
	escaped := len(t.text) > 1 && strings.HasSuffix(t.text, "/")
	if after := s.peek(); escaped || after.kind != atEnd && !after.is("as") {
		s.fail(BadRegex, t, "a regex ends with a slash", "the regex is not closed")
	}
	return p
}

// closing returns the offset of the slash that closes the regex at start, or -1.
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
	p := s.patternAt(start, end)
	p.Kind, p.Text = Regex, s.text[start+1:closing]
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
