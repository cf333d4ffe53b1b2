package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// shadow reads a rule in shadow, from the keyword shadow on.
func (s *scanner) shadow(at token) Statement {
	t := s.next()
	switch {
	case t.kind == atEnd:
		s.fail(Missing, t, shadowForm, "the rule is missing")
	case slices.Contains(statementWords, t.text) && !slices.Contains(ruleWords, t.text):
		s.fail(NoRule, t, "only require, block and limit can be in shadow", "%q is not a rule", s.text[t.off:t.end])
	}
	return s.rule(t, Rule{Pos: s.position(at.off), Shadow: true})
}

func (s *scanner) require(r Rule) Statement {
	first := s.next()
	switch {
	case first.is("human-approval"):
		return s.approve(r)
	case first.isCase("human-approval"):
		s.wrongCase(first, "human-approval")
	case first.kind == atEnd:
		s.fail(Missing, first, requireForm, "the required call is missing")
	case first.text == "human" && s.peek().text == "approval":
		s.fail(Unexpected, token{off: first.off, end: s.peek().end}, approveForm, "human-approval is one word, with a hyphen")
	}
	s.keyword("before", requireForm)
	before := s.name("the call that waits is missing", requireForm)
	once := s.optional("once")
	r.Unless = s.unless("once")
	return &Require{Rule: r, First: s.named(first), Before: before, Once: once}
}

func (s *scanner) approve(r Rule) Statement {
	a := &Approve{}
	if s.optional("via") {
		a.Via = s.channel()
	}
	s.keyword("before", approveForm)
	a.Before = s.name("the call that waits for approval is missing", approveForm)
	r.Unless = s.unless()
	a.Rule = r
	return a
}

// channels are the channels for approvals, and whether this version has them.
var channels = []struct {
	name string
	has  bool
}{{"elicit", true}, {"cli", true}, {"url", false}, {"web", false}, {"webhook", false}}

// channel reads the channel of an approval.
func (s *scanner) channel() string {
	t := s.next()
	var known []string
	for _, c := range channels {
		known = append(known, c.name)
		switch {
		case t.isCase(c.name):
			s.wrongCase(t, c.name)
		case t.is(c.name) && !c.has:
			s.fail(NotSupported, t, "elicit asks through the client, cli at a terminal", "the channel %q is not supported yet", t.text)
		case t.is(c.name):
			return t.text
		}
	}
	switch near := text.Nearest(t.text, known); {
	case t.kind == atEnd:
		s.fail(Missing, t, viaForm, "the channel is missing")
	case near != "" && t.kind == bare:
		s.fail(UnknownChannel, t, fmt.Sprintf("did you mean %q?", near), "unknown channel %q", t.text)
	default:
		s.fail(UnknownChannel, t, "one of "+strings.Join(known, ", "), "unknown channel %q", s.text[t.off:t.end])
	}
	return ""
}

func (s *scanner) block(r Rule) Statement {
	tool := s.name("the name to block is missing", blockForm)
	r.Unless = s.unless()
	return &Block{Rule: r, Tool: tool}
}

func (s *scanner) limit(r Rule) Statement {
	if t := s.peek(); t.is("session") { // limits are per session, not of a session
		s.fail(Unexpected, t, `quote a tool of this name: limit "session" to`, "%q is not a call", t.text)
	}
	l := &Limit{Tool: s.name("the name to limit is missing", limitForm)}
	s.keyword("to", limitForm)
	l.Count = s.count(limitForm)
	s.keyword("per", limitForm)
	s.per(l)
	r.Unless = s.unless()
	l.Rule = r
	return l
}

// unless reads the names of calls that a rule exempts, and the end of the rule.
// earlier lists other words that are valid before the end.
func (s *scanner) unless(earlier ...string) []Name {
	var names []Name
	if s.optional("unless") {
		names = s.names("name", unlessForm)
		earlier = nil
	} else {
		earlier = append(earlier, "unless")
	}
	s.end(earlier...)
	return names
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

// spanWords are the keywords after "per".
var spanWords = [...]string{"session", "user", "second", "minute", "hour", "day"}

// String returns the word after "per".
func (p Span) String() string { return spanWords[p] }

// per reads the words after "per".
func (s *scanner) per(l *Limit) {
	t := s.next()
	if t.kind == atEnd {
		s.fail(Missing, t, limitForm, "the session, or the name that refills the limit, is missing")
		return
	}
	for i, word := range spanWords {
		switch {
		case t.is(word):
			l.Over = Span(i)
			return
		case t.isCase(word):
			s.wrongCase(t, word)
		}
	}
	switch {
	case t.is("successful"):
		l.Successful = true
		t = s.successful()
	case t.isCase("successful"):
		s.wrongCase(t, "successful")
	}
	n := s.named(t)
	l.Per = &n
	if next := s.peek(); next.kind != atEnd && !next.is("unless") && t.kind == bare && text.Nearest(t.text, []string{"successful"}) != "" {
		s.fail(Unexpected, t, `did you mean "successful"?`, "unexpected %q", t.text)
	}
}

// successful reads the call after "per successful".
func (s *scanner) successful() token {
	t := s.next()
	switch {
	case t.kind == atEnd || t.is("unless"):
		s.fail(Missing, t, successfulForm, "the call that must succeed is missing")
	case t.kind == bare && slices.Contains(spanWords[:], t.text):
		s.fail(Unexpected, t, successfulForm, "%q is not a call", t.text)
	}
	return t
}
