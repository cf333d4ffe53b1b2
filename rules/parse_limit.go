package rules

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/internal/text"
)

func (p ruleParser) limit(r Rule) Statement {
	if t := p.line.peek(); t.isWord("session") { // "session" is a span, so a tool with this name must be in quotes
		p.line.fail(Unexpected, t, `quote a tool with this name: limit "session" to`, "%q is not a call", t.text)
	}
	l := &Limit{Tools: p.list("the name to limit is missing", "name", limitForm)}
	p.keyword("to", limitForm)
	l.Count = p.count(limitForm)
	switch at := p.line.peek(); {
	case p.acceptKeyword("of"):
		f := keyParser(p).field(sumForm)
		if l.Of = &f; f.Result {
			p.line.fail(BadField, f.at, sumForm, "a call has no result before it is made")
		}
		p.sumHint()
		p.keyword("per", sumForm)
		p.parseSumSpan(l)
	case p.acceptKeyword("at"):
		l.Over = AtOnce
		p.keyword("once", atOnceForm)
	case p.acceptKeyword("in"):
		l.Over = InARow
		p.keyword("a", inARowForm)
		p.keyword("row", inARowForm)
	default:
		p.spanHint(at)
		p.keyword("per", limitForm)
		p.parsePer(l)
	}
	p.secondSpan()
	of := p.line.peek()
	l.Key = keyParser(p).key(side{other: l.Per != nil, result: l.Successful})
	if l.Over == InARow && l.Key != nil {
		p.line.fail(BadKey, of, "omit the key: calls in a row are equal in all arguments", "a limit of calls in a row cannot have a key")
	}
	l.Rule = p.ending(r, limitClauses, l.nextKeywords()...)
	return l
}

// sumHint reports an error if "at once" or "in a row" follows a limit on a sum. Its hint suggests a
// span.
func (p ruleParser) sumHint() {
	if t := p.line.peek(); t.isWord("at") || t.isWord("in") {
		p.line.fail(Unexpected, t, "a sum needs a span; write: limit A to 1000 of amount per session", `expected "per", not %q`, t.text)
	}
}

// secondSpan rejects a second span in a limit and suggests a second limit instead.
func (p ruleParser) secondSpan() {
	if t := p.line.peek(); t.isWord("per") || t.isWord("at") || t.isWord("in") {
		p.line.fail(Trailing, t, "write two limits: limit A to 1 at once, limit A to 3 per session", "unexpected %q after the span of the limit", t.text)
	}
}

// nextKeywords returns the keywords that may still follow in the statement.
func (l *Limit) nextKeywords() []string {
	if l.Key != nil || l.Over == InARow {
		return nil
	}
	return []string{"for", "with"}
}

// spanHint reports an error if t is a word that authors write instead of "per", "of", "at once" or
// "in a row". Its hint shows the correct form.
func (p ruleParser) spanHint(t token) {
	hint := ""
	switch t.text {
	case "concurrent", "concurrently", "parallel", "in-flight", "simultaneous", "simultaneously", "once", "at-once", "together":
		hint = atOnceForm
	case "row", "in-a-row", "consecutive", "consecutively", "repeated", "repeats", "identical":
		hint = inARowForm
	case "for", "with", "each", "same", "unless":
		hint = limitClauses
	case "a", "an", "every", "daily", "hourly", "within":
		hint = limitForm
	case "amount", "total", "sum":
		hint = sumForm
	}
	if slices.Contains(SpanWords(), t.text) {
		hint = limitForm
	}
	if hint != "" && t.kind == bare {
		p.line.fail(Unexpected, t, hint, `expected "per", not %q`, t.text)
	}
}

// parsePer parses the words after "per": a span, or the call that refills the limit.
func (p ruleParser) parsePer(l *Limit) {
	t := p.line.next()
	if t.kind == atEnd {
		p.line.fail(Missing, t, limitForm, "the session, or the name that refills the limit, is missing")
		return
	}
	if p.span(l, t) {
		return
	}
	if n, word, ok := numberedSpan(t.text); ok && t.kind == bare {
		p.line.fail(Unexpected, t, p.spansHint(l, n, cmp.Or(word, p.line.peek().text)), "unknown unit of time %q", t.text)
		return
	}
	switch {
	case t.isWord("successful"):
		l.Successful = true
		t = p.parseSuccessful()
	case t.isCase("successful"):
		p.wrongCase(t, "successful")
	}
	n := p.nameFrom(t)
	l.Per = &n
	switch next := p.line.peek(); {
	case !n.Quoted && slices.Contains([]byte(t.text), ','):
		p.line.fail(Unexpected, t, limitForm, "only one call can refill a limit, not a list")
	case t.kind == bare && (t.text == "each" || t.text == "every"):
		p.line.fail(Unexpected, t, limitClauses, "unexpected %q", t.text)
	case next.kind != atEnd && !next.isWord("unless") && !next.isWord("with") && !next.isWord("for") && t.kind == bare && text.Nearest(t.text, []string{"successful"}) != "":
		p.line.fail(Unexpected, t, `did you mean "successful"?`, "unexpected %q", t.text)
	}
}

// parseSumSpan parses the span of a limit on a sum: a session, a user or a time span.
func (p ruleParser) parseSumSpan(l *Limit) {
	t := p.line.next()
	switch {
	case t.kind == atEnd:
		p.line.fail(Missing, t, sumForm, "the span is missing")
	case !p.span(l, t):
		p.line.fail(Unexpected, t, "count a sum per "+text.Join(SpanWords(), "or"), "unknown span %q", p.line.text[t.off:t.end])
	}
}

// span parses a span if the word t begins one, and reports whether it does.
func (p ruleParser) span(l *Limit, t token) bool {
	over, ok := spanOf(t.text)
	switch {
	case ok && t.isCase(spans[over].word):
		p.wrongCase(t, spans[over].word)
	case ok && t.isWord(spans[over].word):
		l.Over = over
		p.parsePerUser(l)
		return true
	}
	return false
}

// parsePerUser parses a second "per" and its span, as in "per user per day", if they follow the
// first span.
func (p ruleParser) parsePerUser(l *Limit) {
	at := p.line.peek()
	if !p.acceptKeyword("per") {
		return
	}
	t := p.line.next()
	over, ok := spanOf(t.text)
	switch {
	case t.kind == atEnd:
		p.line.fail(Missing, t, userForm, "the span is missing")
	case ok && t.isCase(spans[over].word):
		p.wrongCase(t, spans[over].word)
	case l.Over == User && t.kind == bare && over.Window() > 0:
		l.Over, l.PerUser = over, true
	case l.Over.Window() > 0 && t.isWord("user"):
		p.line.fail(Unexpected, at, "write: per user "+l.Over.String(), "user must come first")
	case l.Over == User && !t.isWord("session"):
		p.line.fail(Unexpected, t, userForm, "unknown unit of time %q", p.line.text[t.off:t.end])
	default:
		p.line.fail(Unexpected, at, "use one span: per session, per user or per user per day", "unexpected %q", at.text)
	}
}

// parseSuccessful parses the call after "per successful".
func (p ruleParser) parseSuccessful() token {
	t := p.line.next()
	switch {
	case t.kind == atEnd || t.isWord("unless"):
		p.line.fail(Missing, t, successfulForm, "the call that must succeed is missing")
	case t.kind == bare && slices.Contains(SpanWords(), t.text):
		p.line.fail(Unexpected, t, successfulForm, "%q is not a call", t.text)
	}
	return t
}
