package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// Parse reads a rules file to its end. file names it in positions. The File
// holds every statement that could be read; the list every error, at most one
// a line, and is empty where there is none.
func Parse(file string, src []byte) (*File, ErrorList) {
	return ParseAt(src, func(line, column int) gate.Position {
		return gate.Position{File: file, Line: line, Column: column}
	})
}

// ParseAt is [Parse] for a text that is part of a larger file: place says
// where a line and a column of the text are in that file.
func ParseAt(src []byte, place func(line, column int) gate.Position) (*File, ErrorList) {
	text := strings.TrimPrefix(string(src), "\uFEFF") // editors show no column for it
	f := &File{Name: place(1, 1).File, source: make(map[Statement]string)}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		s := &scanner{place: place, number: number, text: line}
		s.check()
		statement := s.statement()
		switch {
		case s.err != nil:
			f.errs = append(f.errs, s.err)
		case statement != nil:
			f.Statements = append(f.Statements, statement)
			f.source[statement] = line
		}
	}
	return f, f.errs
}

// The forms, as hints show them.
const (
	requireForm = "write: require A before B"
	approveForm = "write: require human-approval before B"
	blockForm   = "write: block A"
	limitForm   = "write: limit A to 3 per session"
	mapForm     = "write: map tool.field word as name"
)

// statement reads one line. It is nil where the line is empty or in error.
func (s *scanner) statement() Statement {
	t := s.next()
	switch {
	case t.kind == atEnd:
		return nil
	case t.is("require"):
		return s.require(t)
	case t.is("block"):
		return s.block(t)
	case t.is("limit"):
		return s.limit(t)
	case t.is("map"):
		return s.mapping(t)
	case t.is("prove"):
		return s.prove(t)
	default:
		s.unknownStatement(t)
	}
	return nil
}

var statements = []string{"require", "block", "limit", "map", "prove"}

func (s *scanner) unknownStatement(t token) {
	hint := "a line begins with require, block, limit, map or prove"
	if near := Nearest(t.text, statements); near != "" && t.kind == bare {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	s.fail(UnknownKeyword, t, hint, "unknown statement %q", s.text[t.off:t.end])
}

func (s *scanner) require(at token) Statement {
	first := s.next()
	switch {
	case first.is("human-approval"):
		return s.approve(at)
	case first.isCase("human-approval"):
		s.wrongCase(first, "human-approval")
	case first.kind == atEnd:
		s.fail(Missing, first, requireForm, "what is required is missing")
	}
	s.keyword("before", requireForm, "")
	before := s.name("the call that waits is missing", requireForm)
	s.end("once", "unless")
	return &Require{Pos: s.position(at.off), First: s.named(first), Before: before}
}

func (s *scanner) approve(at token) Statement {
	s.keyword("before", approveForm, "via")
	before := s.name("the call that waits for approval is missing", approveForm)
	s.end("unless")
	return &Approve{Pos: s.position(at.off), Before: before}
}

func (s *scanner) block(at token) Statement {
	tool := s.name("the name to block is missing", blockForm)
	s.end("unless")
	return &Block{Pos: s.position(at.off), Tool: tool}
}

func (s *scanner) limit(at token) Statement {
	tool := s.name("the name to limit is missing", limitForm)
	s.keyword("to", limitForm, "")
	count := s.count(limitForm)
	s.keyword("per", limitForm, "")
	per := s.scope()
	s.end("unless")
	return &Limit{Pos: s.position(at.off), Tool: tool, Count: count, Per: per}
}

// count reads a number of calls: decimal digits and nothing else.
func (s *scanner) count(form string) int {
	t := s.next()
	if t.kind == atEnd {
		s.fail(Missing, t, form, "the count is missing")
		return 0
	}
	n, err := strconv.ParseInt(t.text, 10, 32)
	if t.kind != bare || err != nil || n < 1 || strconv.FormatInt(n, 10) != t.text {
		s.fail(BadCount, t, fmt.Sprintf("a whole number from 1 to %d, in plain digits", math.MaxInt32), "invalid count %q", s.text[t.off:t.end])
		return 0
	}
	return int(n)
}

// windows are the words after "per" that a later version gives a meaning.
var windows = []string{"second", "minute", "hour", "day", "user", "successful"}

// scope reads what stands after "per"; nil is the session.
func (s *scanner) scope() *Name {
	t := s.next()
	switch {
	case t.kind == atEnd:
		s.fail(Missing, t, limitForm, "the session, or the name that refills the limit, is missing")
		return nil
	case t.is("session"):
		return nil
	case t.isCase("session"):
		s.wrongCase(t, "session")
	}
	for _, w := range windows {
		switch {
		case t.is(w):
			s.fail(NotSupported, t, "a tool of that name stands in quotes", "%q is not supported yet", "per "+w)
		case t.isCase(w):
			s.wrongCase(t, w)
		}
	}
	n := s.named(t)
	return &n
}

// name reads one name.
func (s *scanner) name(missing, form string) Name {
	t := s.next()
	if t.kind == atEnd {
		s.fail(Missing, t, form, "%s", missing)
	}
	return s.named(t)
}

func (s *scanner) named(t token) Name {
	return Name{Pos: s.position(t.off), Text: t.text, Quoted: t.kind == quoted, column: s.column(t.off)}
}

// keyword reads the word that has to stand here. later is a word that a later
// version allows in its place.
func (s *scanner) keyword(word, form, later string) {
	t := s.next()
	switch {
	case t.is(word):
	case t.kind == atEnd:
		s.fail(Missing, t, form, "%q is missing", word)
	case t.isCase(word):
		s.wrongCase(t, word)
	case later != "" && t.is(later):
		s.notSupported(t, later)
	default:
		s.fail(Unexpected, t, form, "expected %q, not %q", word, s.text[t.off:t.end])
	}
}

// end refuses what follows a statement. later are the words that a later
// version allows there.
func (s *scanner) end(later ...string) {
	t := s.peek()
	if t.kind == atEnd {
		return
	}
	for _, word := range later {
		if t.is(word) {
			s.notSupported(t, word)
		}
	}
	s.fail(Trailing, t, "one statement a line; a comment begins with #", "unexpected %q after the statement", s.text[t.off:t.end])
}

func (s *scanner) notSupported(t token, what string) {
	s.fail(NotSupported, t, "", "%q is not supported yet", what)
}

func (s *scanner) wrongCase(t token, keyword string) {
	hint := fmt.Sprintf("write %s; a name that looks like it stands in quotes", keyword)
	s.fail(WrongCase, t, hint, "the keyword %q is written %q", keyword, t.text)
}
