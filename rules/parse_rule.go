package rules

import (
	"fmt"
	"strings"
)

// A ruleParser parses the rest of a rule, after the keyword that begins it.
type ruleParser struct{ *parser }

func (p ruleParser) block(r Rule) Statement {
	b := &Block{Tools: p.list("the name to block is missing", "name", blockForm)}
	b.After, b.Until = p.parseAfter()
	b.Rule = p.ending(r, blockClauses, p.afterWords(b.After)...)
	return b
}

func (p ruleParser) allow(at token) Statement {
	a := &Allow{Pos: p.line.position(at.off), Tools: p.list("the name to allow is missing", "name", allowForm)}
	if t := p.line.peek(); len(a.Tools) == 1 && a.Tools[0].String() == "only" && t.kind == bare {
		p.line.fail(Unexpected, t, fmt.Sprintf("write: allow %s; and in the configuration, to refuse the rest: default: deny", strings.TrimSuffix(p.line.text[t.off:t.end], ",")), "unexpected %q after only", t.text)
	}
	a.Because = p.parseReason()
	p.endOf(allowClauses, "because")
	return a
}

// parseAfter parses the calls that activate and deactivate a rule, if any.
func (p ruleParser) parseAfter() (after, until []Name) {
	if !p.acceptKeyword("after") {
		return nil, nil
	}
	after = p.list("the call that starts the rule is missing", "name", afterForm)
	if p.acceptKeyword("until") {
		until = p.list("the call that ends the rule is missing", "name", afterForm)
	}
	return after, until
}

// afterWords returns the keyword to suggest in a hint: "until" if the rule already has the clause
// "after", and "after" otherwise.
func (p ruleParser) afterWords(after []Name) []string {
	if after == nil {
		return []string{"after"}
	}
	return []string{"until"}
}

// ending parses the end of a rule: its exemptions and the author's reason. The other arguments are
// for hints about unexpected text: the form of the rule, and keywords that could have been written
// instead.
func (p ruleParser) ending(r Rule, form string, earlier ...string) Rule {
	if p.acceptKeyword("unless") {
		r.Unless = p.names("name", unlessForm)
		earlier = nil
	} else {
		earlier = append(earlier, "unless")
	}
	if r.Because = p.parseReason(); r.Because == "" {
		earlier = append(earlier, "because")
	} else {
		earlier = nil
	}
	p.endOf(form, earlier...)
	return r
}

// parseReason parses the author's reason in quotes, after "because". Without this keyword, it
// returns "".
func (p ruleParser) parseReason() string {
	if !p.acceptKeyword("because") {
		return ""
	}
	t := p.quotedText("reason", becauseForm)
	if p.line.err == nil && strings.TrimSpace(t.text) == "" {
		p.line.fail(BadQuotes, t, becauseForm, "the reason is empty")
	}
	return t.text
}
