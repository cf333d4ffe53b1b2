package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// Forms of claims, shown in hints.
const (
	proveForm      = "write: prove never A before B"
	withoutForm    = "write: prove never A without human-approval"
	lackingForm    = "write: prove never A without 2 human-approvals"
	proveAfterForm = "write: prove never A after B until C"
	whileForm      = "write: prove never A while B"
	atMostForm     = "write: prove at-most 3 A per session"
	onlyForm       = "write: prove only A, B without human-approval"
	narrowerForm   = "write: prove narrower-than base.rules"
	ownForm        = "write: prove always-possible A but for its own budget"
	exclusiveForm  = "write: prove exclusive PLACE, PLACE"
)

// A claimParser parses the claim in a line.
type claimParser struct {
	*parser
	claim *Prove
}

// prove parses a statement that begins with "prove".
func (p *parser) prove(at token) Statement {
	claim := &Prove{Pos: p.line.position(at.off)}
	claimParser{p, claim}.read()
	return claim
}

// read parses the words after "prove".
func (p claimParser) read() {
	claim, t := p.claim, p.line.next()
	switch {
	case t.kind == atEnd:
		p.line.fail(Missing, t, proveForm, "the claim is missing")
	case t.isWord("never"):
		p.parseNever()
	case t.isWord("at-most"):
		p.parseAtMost()
	case t.isWord("only"):
		claim.Claim, claim.Tools = Only, p.claimNames("the list of calls is missing", onlyForm)
		claim.Approval = p.parseWithoutApproval(onlyForm)
		p.end("without")
	case t.isWord("narrower-than"):
		claim.Claim, claim.File = NarrowerThan, p.name("the file is missing", narrowerForm)
		p.end()
	case t.isWord("exclusive"):
		claim.Claim, claim.Places = Exclusive, p.places()
		p.end()
	default:
		p.simpleClaim(t)
	}
}

// simpleClaim parses a claim about a single kind of call, or about a net.
func (p claimParser) simpleClaim(t token) {
	claim := p.claim
	for c := Reachable; c <= NoTerminalStates; c++ {
		if !t.isWord(c.String()) {
			continue
		}
		claim.Claim = c
		if c > NoFailureLocks {
			claim.Net = p.name("the net is missing", fmt.Sprintf("write: prove %s NET", c))
			p.end()
			return
		}
		claim.Tools = p.claimNames("the name of the call is missing", fmt.Sprintf("write: prove %s A", c))
		if c != AlwaysPossible {
			p.end()
			return
		}
		if claim.OwnBudget = p.acceptKeyword("but"); claim.OwnBudget {
			for _, word := range []string{"for", "its", "own", "budget"} {
				p.keyword(word, ownForm)
			}
		}
		p.end("but")
		return
	}
	p.unknownClaim(t)
}

func (p claimParser) unknownClaim(t token) {
	for _, word := range claimWords {
		if t.isCase(word) {
			p.wrongCase(t, word)
		}
	}
	hint := "one of " + strings.Join(claimWords[NeverWhile:], ", ")
	if t.kind == bare {
		hint = cmp.Or(text.Suggest(t.text, claimWords[:]), hint)
	}
	p.line.fail(UnknownClaim, t, hint, "unknown claim %q", p.line.text[t.off:t.end])
}

// claimNames parses the call names in a claim, separated by commas. If there are no names, it fails
// with the given message.
func (p claimParser) claimNames(missing, form string) []Name {
	return p.listOf(p.listItem, missing, "name", form)
}

// neverWords lists the keywords within a claim that begins with "never".
var neverWords = []string{"before", "after", "while", "without"}

// parseNever parses the words after "never".
func (p claimParser) parseNever() {
	claim := p.claim
	claim.Tools = p.claimNames("the name of the call is missing", proveForm)
	t := p.line.peek()
	for _, word := range neverWords {
		if t.isCase(word) {
			p.wrongCase(t, word)
		}
	}
	switch {
	case t.kind == atEnd:
		claim.Claim = Never
	case t.isWord("without"):
		claim.Claim, claim.Approval = NeverWithoutApproval, p.parseWithoutApproval(withoutForm)
		p.end("via")
	case t.isWord("before"):
		p.line.off = t.end
		claim.Claim = NeverBefore
		if p.line.peek().isWord("human-approval") {
			p.line.fail(Unexpected, p.line.peek(), withoutForm, "a person is not a call")
		}
		claim.Others = p.claimNames("the call that comes first is missing", proveForm)
		later := []string{"once", "with"}
		if claim.Once = p.acceptKeyword("once"); claim.Once {
			later = later[1:]
		}
		claim.Key = keyParser{p.parser}.key(side{other: true, first: true, result: true})
		if claim.Key != nil {
			later = nil
		}
		p.end(later...)
	case t.isWord("after"):
		p.line.off = t.end
		p.parseAfter()
	case t.isWord("while"):
		p.line.off = t.end
		claim.Claim, claim.Others = NeverWhile, p.claimNames("the call that is in progress is missing", whileForm)
		p.end()
	default:
		hint := proveForm
		if t.kind == bare {
			hint = cmp.Or(text.Suggest(t.text, neverWords), hint)
		}
		p.line.fail(Unexpected, t, hint, `expected "before", "after", "while" or "without", not %q`, p.line.text[t.off:t.end])
	}
}

// parseAfter parses the words after "never A after".
func (p claimParser) parseAfter() {
	claim := p.claim
	claim.Claim, claim.Others = NeverAfter, p.claimNames("the call that comes first is missing", proveAfterForm)
	claim.Approval = p.parseWithoutApproval(withoutForm)
	earlier := []string{"without"}
	if claim.Approval != nil {
		earlier = []string{"via"}
	}
	if p.acceptKeyword("until") {
		claim.Until, earlier = p.claimNames("the call that ends it is missing", proveAfterForm), nil
	} else {
		earlier = append(earlier, "until")
	}
	p.end(earlier...)
}

// parseWithoutApproval parses an optional "without human-approval".
func (p claimParser) parseWithoutApproval(form string) *Approval {
	if !p.acceptKeyword("without") {
		return nil
	}
	a := &Approval{Count: 1}
	if t := p.line.peek(); t.kind == bare && t.text[0] >= '0' && t.text[0] <= '9' {
		if a.Count = p.count(lackingForm); a.Count == 1 {
			p.line.fail(BadCount, t, withoutForm, "human-approval without a number means one person")
		}
		p.keyword("human-approvals", lackingForm)
	} else {
		p.keyword("human-approval", form)
	}
	if p.acceptKeyword("via") {
		a.Via = ruleParser{p.parser}.channel()
	}
	return a
}

// parseAtMost parses the words after "at-most": a count, call names, and the span or the calls
// after "per".
func (p claimParser) parseAtMost() {
	claim := p.claim
	claim.Claim, claim.Count = AtMost, p.count(atMostForm)
	claim.Tools = p.claimNames("the name that is counted is missing", atMostForm)
	claim.Key = keyParser{p.parser}.key(side{})
	p.keyword("per", atMostForm)
	if p.perClause(); claim.Key == nil {
		claim.Key = keyParser{p.parser}.key(side{})
	}
	p.end("for")
}

// perClause parses the span or the calls after "per".
func (p claimParser) perClause() {
	claim := p.claim
	start, l := p.line.off, &Limit{}
	if (ruleParser{p.parser}).span(l, p.listItem()) {
		claim.Over, claim.User = l.Over, l.PerUser
		return
	}
	p.line.off = start
	claim.Successful = p.acceptKeyword("successful")
	claim.Others = p.claimNames("the session, or the call that restarts the count, is missing", atMostForm)
}

// places parses the two or more place names of an exclusive claim.
func (p claimParser) places() []Name {
	names := p.names("place", exclusiveForm)
	if len(names) == 1 {
		p.line.fail(Missing, p.line.peek(), exclusiveForm, "a comma and another place are missing")
	}
	return names
}
