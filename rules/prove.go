package rules

import (
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
func (s *scanner) prove(at token) Statement {
	p := &Prove{Pos: s.position(at.off)}
	t := s.next()
	switch {
	case t.kind == atEnd:
		s.fail(Missing, t, proveForm, "the claim is missing")
	case t.is("never"):
		s.proveNever(p)
	case t.is("at-most"):
		p.Claim, p.Count = AtMost, s.count(atMostForm)
		p.Tool = s.name("the name that is counted is missing", atMostForm)
		s.keyword("per", atMostForm)
		s.keyword("session", atMostForm)
	case t.is("exclusive"):
		p.Claim, p.Places = Exclusive, s.places()
	default:
		s.proveOne(p, t)
	}
	s.end()
	return p
}

// proveOne reads a claim about one name.
func (s *scanner) proveOne(p *Prove, t token) {
	for c := Reachable; c <= NoTerminalStates; c++ {
		if !t.is(c.String()) {
			continue
		}
		p.Claim = c
		if c <= AlwaysPossible {
			p.Tool = s.name("the name of the call is missing", fmt.Sprintf("write: prove %s A", c))
		} else {
			p.Net = s.name("the net is missing", fmt.Sprintf("write: prove %s NET", c))
		}
		return
	}
	s.unknownClaim(t)
}

func (s *scanner) unknownClaim(t token) {
	for _, word := range claimWords {
		if t.isCase(word) {
			s.wrongCase(t, word)
		}
	}
	hint := "one of " + strings.Join(claimWords[NeverWithoutApproval:], ", ")
	if near := text.Nearest(t.text, claimWords[:]); near != "" && t.kind == bare {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	s.fail(UnknownClaim, t, hint, "unknown claim %q", s.text[t.off:t.end])
}

// proveNever reads the words after "never".
func (s *scanner) proveNever(p *Prove) {
	p.Tool = s.name("the name of the call is missing", proveForm)
	t := s.next()
	switch {
	case t.kind == atEnd:
		p.Claim = Never
	case t.is("without"):
		p.Claim = NeverWithoutApproval
		s.keyword("human-approval", withoutForm)
	case t.is("before"):
		p.Claim = NeverBefore
		if s.peek().is("human-approval") {
			s.fail(Unexpected, s.peek(), withoutForm, "a person is not a call")
		}
		p.First = s.name("the call that comes first is missing", proveForm)
	case t.isCase("without") || t.isCase("before"):
		s.wrongCase(t, strings.ToLower(t.text))
	default:
		s.fail(Unexpected, t, proveForm, `expected "before" or "without", not %q`, s.text[t.off:t.end])
	}
}

// places reads two or more names.
func (s *scanner) places() []Name {
	names := s.names("place", exclusiveForm)
	if len(names) == 1 {
		s.fail(Missing, s.peek(), exclusiveForm, "a comma and another place are missing")
	}
	return names
}

// item reads a name of a list. Here a comma ends a bare name.
func (s *scanner) item() token {
	start := s.skip(s.off)
	if strings.HasPrefix(s.text[start:], `"`) {
		t := s.quoted(start)
		s.off = t.end
		if !strings.HasPrefix(s.text[t.end:], ",") {
			return s.whole(t, "name")
		}
		return t
	}
	end := s.wordEnd(start)
	if i := strings.IndexByte(s.text[start:end], ','); i >= 0 {
		end = start + i
	}
	s.off = end
	if end == start {
		return token{kind: atEnd, off: s.contentEnd(start), end: start}
	}
	return s.bare(start, end)
}
