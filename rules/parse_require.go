package rules

import (
	"cmp"
	"strings"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/text"
)

func (p ruleParser) require(r Rule) Statement {
	start := p.line.off
	if a := p.approvals(); a != nil {
		return p.approve(a, r)
	}
	p.line.off = start
	s := &Require{}
	s.First, s.Or = p.parseRequired()
	p.expectBefore()
	s.Before = p.list("the call that waits is missing", "name", requireForm)
	s.Once = p.acceptKeyword("once")
	if p.acceptKeyword("since") {
		s.Since = p.list("the call that cancels the success is missing", "name", sinceForm)
		s.Once = s.Once || p.acceptKeyword("once")
	}
	s.Key = keyParser(p).key(side{other: true, first: true, result: true})
	s.Rule = p.ending(r, requireClauses, s.nextKeywords()...)
	return s
}

// nextKeywords returns the keywords that may still follow in the statement.
func (s *Require) nextKeywords() []string {
	switch {
	case s.Key != nil:
		return nil
	case s.Once && s.Since != nil:
		return []string{"with"}
	case s.Since != nil:
		return []string{"once", "with"}
	case s.Once:
		return []string{"since", "with"}
	}
	return []string{"once", "since", "with"}
}

// parseRequired parses the required calls: a list, or names separated by "or".
func (p ruleParser) parseRequired() (names []Name, or bool) {
	names = p.list("the required call is missing", "name", requireForm)
	for at := p.line.peek(); p.acceptKeyword("or"); at = p.line.peek() {
		if !or && len(names) > 1 || p.comma() {
			p.line.fail(Unexpected, at, orForm, `a list uses commas or "or", not both`)
		}
		if or = true; p.line.peek().isWord("before") {
			p.line.fail(Missing, p.line.peek(), orForm, "a name is missing")
		}
		t := p.listItem()
		if t.text == "" {
			p.line.fail(Missing, t, orForm, "a name is missing")
		}
		if names = p.appendName(names, t, "name", orForm); p.comma() {
			p.line.fail(Unexpected, token{off: p.line.off - 1, end: p.line.off}, orForm, `a list uses commas or "or", not both`)
		}
	}
	return names, or
}

// expectBefore parses the keyword "before", which separates the two sides of a requirement.
func (p ruleParser) expectBefore() {
	switch t := p.line.peek(); t.text {
	case "and":
		p.line.fail(Unexpected, t, orForm, `expected "before", not %q`, t.text)
	case "within":
		p.line.fail(Unexpected, t, withinHint, `expected "before", not %q`, t.text)
	}
	p.keyword("before", requireForm)
}

// approvals parses "human-approval", optionally preceded by the number of people. If the statement
// requires a call instead, approvals returns nil.
func (p ruleParser) approvals() *Approve {
	t := p.listItem()
	next := p.line.peek()
	switch {
	case t.isWord("human-approval"):
		return &Approve{Persons: 1}
	case t.isCase("human-approval"):
		p.wrongCase(t, "human-approval")
	case t.isWord("human-approvals"):
		p.line.fail(Unexpected, t, personsForm, "the number of people is missing")
	case next.isWord("human-approval") || next.isWord("human-approvals"):
		p.line.off = next.end
		return &Approve{Persons: p.countAt(t)}
	case t.kind == bare && (next.isCase("human-approval") || next.isCase("human-approvals")):
		p.wrongCase(next, strings.ToLower(next.text))
	case t.text == "human" && next.text == "approval":
		p.line.fail(Unexpected, token{off: t.off, end: next.end}, approveForm, "human-approval is one word, with a hyphen")
	}
	return nil
}

func (p ruleParser) approve(a *Approve, r Rule) Statement {
	if p.acceptKeyword("via") {
		a.Via = p.channel()
	}
	p.keyword("before", approveForm)
	a.Before = p.list("the call that waits for approval is missing", "name", approveForm)
	a.After, a.Until = p.parseAfter()
	a.Rule = p.ending(r, approveClauses, p.afterWords(a.After)...)
	return a
}

// channel parses the name of the channel for requesting an approval, which follows "via".
func (p ruleParser) channel() string {
	t := p.line.next()
	channels := channel.Names(nil)
	for _, c := range channels {
		switch {
		case t.isCase(c):
			p.wrongCase(t, c)
		case t.isWord(c):
			return t.text
		}
	}
	hint := "one of " + strings.Join(channels, ", ")
	switch t.kind {
	case atEnd:
		p.line.fail(Missing, t, viaForm, "the channel is missing")
	case bare:
		hint = cmp.Or(text.Suggest(t.text, channels), hint)
	}
	p.line.fail(UnknownChannel, t, hint, "unknown channel %q", p.line.text[t.off:t.end])
	return ""
}
