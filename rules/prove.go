package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// Prove is a claim about the whole policy. Compile passes it on; whoever loads the
// policy must have it proved. Claim determines which fields are set.
type Prove struct {
	Pos    gate.Position
	Claim  Claim
	Tool   Name   // of claims about calls
	First  Name   // of NeverBefore
	Count  int    // of AtMost
	Net    Name   // of Conserved, DeadlockFree and NoTerminalStates
	Places []Name // of Exclusive; two or more
}

// A Claim is the kind of a [Prove].
type Claim uint8

// The claims.
const (
	Never                Claim = iota // prove never A
	NeverBefore                       // prove never A before B
	NeverWithoutApproval              // prove never A without human-approval
	AtMost                            // prove at-most 3 A per session
	Reachable                         // prove reachable A
	AlwaysPossible                    // prove always-possible A
	Conserved                         // prove conserved NET
	Exclusive                         // prove exclusive PLACE, PLACE
	DeadlockFree                      // prove deadlock-free NET
	NoTerminalStates                  // prove no-terminal-states NET
)

// claimWords start a claim.
var claimWords = [...]string{"never", "never", "never", "at-most", "reachable", "always-possible", "conserved", "exclusive", "deadlock-free", "no-terminal-states"}

// String returns the first word of the claim.
func (c Claim) String() string { return claimWords[c] }

// Position returns the start of the statement.
func (s *Prove) Position() gate.Position { return s.Pos }

func (s *Prove) names() []Name {
	switch s.Claim {
	case NeverBefore:
		return []Name{s.Tool, s.First}
	case Never, NeverWithoutApproval, AtMost, Reachable, AlwaysPossible:
		return []Name{s.Tool}
	}
	return nil
}

// written returns every name of the statement: of calls, a net or places.
func (s *Prove) written() []Name {
	switch s.Claim {
	case Conserved, DeadlockFree, NoTerminalStates:
		return []Name{s.Net}
	case Exclusive:
		return s.Places
	}
	return s.names()
}

func (s *Prove) String() string {
	switch s.Claim {
	case NeverBefore:
		return fmt.Sprintf("prove never %s before %s", s.Tool, s.First)
	case NeverWithoutApproval:
		return fmt.Sprintf("prove never %s without human-approval", s.Tool)
	case AtMost:
		return fmt.Sprintf("prove at-most %d %s per session", s.Count, s.Tool)
	}
	return fmt.Sprintf("prove %s %s", s.Claim, joinNames(s.written()))
}

// The forms, as hints show them.
const (
	proveForm     = "write: prove never A before B"
	withoutForm   = "write: prove never A without human-approval"
	atMostForm    = "write: prove at-most 3 A per session"
	exclusiveForm = "write: prove exclusive PLACE, PLACE"
)

// prove reads a claim.
func (p *parser) prove(at token) Statement {
	claim := &Prove{Pos: p.line.position(at.off)}
	t := p.line.next()
	switch {
	case t.kind == atEnd:
		p.line.fail(Missing, t, proveForm, "the claim is missing")
	case t.is("never"):
		p.proveNever(claim)
	case t.is("at-most"):
		claim.Claim, claim.Count = AtMost, p.count(atMostForm)
		claim.Tool = p.name("the name that is counted is missing", atMostForm)
		p.keyword("per", atMostForm)
		p.keyword("session", atMostForm)
	case t.is("exclusive"):
		claim.Claim, claim.Places = Exclusive, p.places()
	default:
		p.proveOne(claim, t)
	}
	p.end()
	return claim
}

// proveOne reads a claim about one name.
func (p *parser) proveOne(claim *Prove, t token) {
	for c := Reachable; c <= NoTerminalStates; c++ {
		if !t.is(c.String()) {
			continue
		}
		claim.Claim = c
		if c <= AlwaysPossible {
			claim.Tool = p.name("the name of the call is missing", fmt.Sprintf("write: prove %s A", c))
		} else {
			claim.Net = p.name("the net is missing", fmt.Sprintf("write: prove %s NET", c))
		}
		return
	}
	p.unknownClaim(t)
}

func (p *parser) unknownClaim(t token) {
	for _, word := range claimWords {
		if t.isCase(word) {
			p.wrongCase(t, word)
		}
	}
	hint := "one of " + strings.Join(claimWords[NeverWithoutApproval:], ", ")
	if t.kind == bare {
		hint = cmp.Or(text.Suggest(t.text, claimWords[:]), hint)
	}
	p.line.fail(UnknownClaim, t, hint, "unknown claim %q", p.line.text[t.off:t.end])
}

// proveNever reads the words after "never".
func (p *parser) proveNever(claim *Prove) {
	claim.Tool = p.name("the name of the call is missing", proveForm)
	t := p.line.next()
	switch {
	case t.kind == atEnd:
		claim.Claim = Never
	case t.is("without"):
		claim.Claim = NeverWithoutApproval
		p.keyword("human-approval", withoutForm)
	case t.is("before"):
		claim.Claim = NeverBefore
		if p.line.peek().is("human-approval") {
			p.line.fail(Unexpected, p.line.peek(), withoutForm, "a person is not a call")
		}
		claim.First = p.name("the call that comes first is missing", proveForm)
	case t.isCase("without") || t.isCase("before"):
		p.wrongCase(t, strings.ToLower(t.text))
	default:
		p.line.fail(Unexpected, t, proveForm, `expected "before" or "without", not %q`, p.line.text[t.off:t.end])
	}
}

// places reads two or more names.
func (p *parser) places() []Name {
	names := p.names("place", exclusiveForm)
	if len(names) == 1 {
		p.line.fail(Missing, p.line.peek(), exclusiveForm, "a comma and another place are missing")
	}
	return names
}

// item reads a name of a list. Here a comma ends a bare name.
func (p *parser) item() token {
	start := p.line.skip(p.line.off)
	if strings.HasPrefix(p.line.text[start:], `"`) {
		t := p.line.quoted(start)
		p.line.off = t.end
		if !strings.HasPrefix(p.line.text[t.end:], ",") {
			return p.line.whole(t, "name")
		}
		return t
	}
	end := p.line.wordEnd(start)
	if i := strings.IndexByte(p.line.text[start:end], ','); i >= 0 {
		end = start + i
	}
	p.line.off = end
	if end == start {
		return token{kind: atEnd, off: p.line.contentEnd(start), end: start}
	}
	return p.line.bare(start, end)
}
