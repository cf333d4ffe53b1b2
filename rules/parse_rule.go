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

// shadow reads a rule in shadow, from the keyword shadow on.
func (p *parser) shadow(at token) Statement {
	t := p.line.next()
	switch {
	case t.kind == atEnd:
		p.line.fail(Missing, t, shadowForm, "the rule is missing")
	case slices.Contains(statementWords, t.text) && !slices.Contains(ruleWords, t.text):
		p.line.fail(NoRule, t, "only require, block and limit can be in shadow", "%q is not a rule", p.line.text[t.off:t.end])
	}
	return p.rule(t, Rule{Pos: p.line.position(at.off), Shadow: true})
}

func (p *parser) require(r Rule) Statement {
	first := p.line.next()
	switch {
	case first.is("human-approval"):
		return p.approve(r)
	case first.isCase("human-approval"):
		p.wrongCase(first, "human-approval")
	case first.kind == atEnd:
		p.line.fail(Missing, first, requireForm, "the required call is missing")
	case first.text == "human" && p.line.peek().text == "approval":
		p.line.fail(Unexpected, token{off: first.off, end: p.line.peek().end}, approveForm, "human-approval is one word, with a hyphen")
	}
	p.keyword("before", requireForm)
	before := p.name("the call that waits is missing", requireForm)
	once := p.optional("once")
	r.Unless = p.unless("once")
	return &Require{Rule: r, First: p.named(first), Before: before, Once: once}
}

func (p *parser) approve(r Rule) Statement {
	a := &Approve{}
	if p.optional("via") {
		a.Via = p.channel()
	}
	p.keyword("before", approveForm)
	a.Before = p.name("the call that waits for approval is missing", approveForm)
	r.Unless = p.unless()
	a.Rule = r
	return a
}

// channels are the channels for approvals, and whether this version has them.
var channels = []struct {
	name string
	has  bool
}{{"elicit", true}, {"cli", true}, {"url", false}, {"web", false}, {"webhook", false}}

// channel reads the channel of an approval.
func (p *parser) channel() string {
	t := p.line.next()
	var known []string
	for _, c := range channels {
		known = append(known, c.name)
		switch {
		case t.isCase(c.name):
			p.wrongCase(t, c.name)
		case t.is(c.name) && !c.has:
			p.line.fail(NotSupported, t, "elicit asks through the client, cli at a terminal", "the channel %q is not supported yet", t.text)
		case t.is(c.name):
			return t.text
		}
	}
	hint := "one of " + strings.Join(known, ", ")
	switch t.kind {
	case atEnd:
		p.line.fail(Missing, t, viaForm, "the channel is missing")
	case bare:
		hint = cmp.Or(text.Suggest(t.text, known), hint)
	}
	p.line.fail(UnknownChannel, t, hint, "unknown channel %q", p.line.text[t.off:t.end])
	return ""
}

func (p *parser) block(r Rule) Statement {
	tool := p.name("the name to block is missing", blockForm)
	r.Unless = p.unless()
	return &Block{Rule: r, Tool: tool}
}

func (p *parser) limit(r Rule) Statement {
	if t := p.line.peek(); t.is("session") { // limits are per session, not of a session
		p.line.fail(Unexpected, t, `quote a tool of this name: limit "session" to`, "%q is not a call", t.text)
	}
	l := &Limit{Tool: p.name("the name to limit is missing", limitForm)}
	p.keyword("to", limitForm)
	l.Count = p.count(limitForm)
	p.keyword("per", limitForm)
	p.per(l)
	r.Unless = p.unless()
	l.Rule = r
	return l
}

// unless reads the names of calls that a rule exempts, and the end of the rule.
// earlier lists other words that are valid before the end.
func (p *parser) unless(earlier ...string) []Name {
	var names []Name
	if p.optional("unless") {
		names = p.names("name", unlessForm)
		earlier = nil
	} else {
		earlier = append(earlier, "unless")
	}
	p.end(earlier...)
	return names
}

// count reads a number of calls: decimal digits and nothing else.
func (p *parser) count(form string) int {
	t := p.line.next()
	if t.kind == atEnd {
		p.line.fail(Missing, t, form, "the count is missing")
		return 0
	}
	n, err := strconv.ParseInt(t.text, 10, 32)
	if t.kind != bare || err != nil || n < 1 || strconv.FormatInt(n, 10) != t.text {
		p.line.fail(BadCount, t, fmt.Sprintf("a whole number from 1 to %d, in plain digits", math.MaxInt32), "invalid count %q", p.line.text[t.off:t.end])
		return 0
	}
	return int(n)
}

// spanWords are the keywords after "per".
var spanWords = [...]string{"session", "user", "second", "minute", "hour", "day"}

// String returns the word after "per".
func (p Span) String() string { return spanWords[p] }

// per reads the words after "per".
func (p *parser) per(l *Limit) {
	t := p.line.next()
	if t.kind == atEnd {
		p.line.fail(Missing, t, limitForm, "the session, or the name that refills the limit, is missing")
		return
	}
	for i, word := range spanWords {
		switch {
		case t.is(word):
			l.Over = Span(i)
			return
		case t.isCase(word):
			p.wrongCase(t, word)
		}
	}
	switch {
	case t.is("successful"):
		l.Successful = true
		t = p.successful()
	case t.isCase("successful"):
		p.wrongCase(t, "successful")
	}
	n := p.named(t)
	l.Per = &n
	if next := p.line.peek(); next.kind != atEnd && !next.is("unless") && t.kind == bare && text.Nearest(t.text, []string{"successful"}) != "" {
		p.line.fail(Unexpected, t, `did you mean "successful"?`, "unexpected %q", t.text)
	}
}

// successful reads the call after "per successful".
func (p *parser) successful() token {
	t := p.line.next()
	switch {
	case t.kind == atEnd || t.is("unless"):
		p.line.fail(Missing, t, successfulForm, "the call that must succeed is missing")
	case t.kind == bare && slices.Contains(spanWords[:], t.text):
		p.line.fail(Unexpected, t, successfulForm, "%q is not a call", t.text)
	}
	return t
}
