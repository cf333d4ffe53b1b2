package policy

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// A Problem is something wrong with a policy.
type Problem struct {
	Severity Severity   `json:"severity"`
	Code     rules.Code `json:"code"`
	File     string     `json:"file"`
	Line     int        `json:"line"`   // 0: not tied to a line
	Column   int        `json:"column"` // in characters, from 1
	Message  string     `json:"message"`
	Hint     string     `json:"hint"`          // what to write instead; may be empty
	Net      string     `json:"net,omitempty"` // of a hand-written net
	Excerpt  string     `json:"-"`             // the source line and a caret below it; may be empty
	Detail   string     `json:"-"`             // lines that explain it; may be empty
}

// Severity says whether a policy with the problem loads.
type Severity string

const (
	Error   Severity = "error" // it does not
	Warning Severity = "warning"
	Note    Severity = "note" // and nothing is wrong: it is only good to know
)

// The problems of policies; those of rules are in package rules.
const (
	InvalidNet    rules.Code = "E101" // a hand-written net that the gate does not accept
	BadPattern    rules.Code = "E102" // a pattern in the map of a net
	UnknownActive rules.Code = "E103" // a name in "active" that no net has
	BadDefault    rules.Code = "E104" // a default that there is not
	MalformedNet  rules.Code = "E105" // a net that cannot be read
	UnknownNet    rules.Code = "E106" // a claim about a net that there is not
	UnknownPlace  rules.Code = "E107" // a claim about places that no net has
	BadExpression rules.Code = "E108" // an expression of a net, in CEL
	BadCommand    rules.Code = "E109" // the words of a command in the map of a net
	WeakUnless    rules.Code = "E110" // an exemption for a name that is never certain

	BareName rules.Code = "E111" // a name that tools of several servers may have, where it is to count

	UnknownTool   rules.Code = "W101" // a name that no known tool has
	FirstMatch    rules.Code = "W102" // "match: first", which lets combined commands through
	ReleasedToken rules.Code = "W103" // "unknown: release", which counts a lost call as not made
	GlobInNet     rules.Code = "W104" // a tool of a net that looks like a pattern

	UnknownClaimed rules.Code = "W105" // a claim about a call that nothing gates
	TwoWindows     rules.Code = "W106" // a net of one session that is meant for all of them
	UnknownField   rules.Code = "W107" // a map that reads an argument which the tool does not take
	WeakProgress   rules.Code = "W108" // "weak: progress", which takes a doubtful name for the name
	UnusedPlace    rules.Code = "W109" // a place with which no transition has to do
	NoEvidence     rules.Code = "W110" // a rule that waits for a command which proves nothing
)

// Error is the problem on one line: file:line:column: message (hint).
func (p Problem) Error() string {
	text := p.Message
	if p.Net != "" {
		text = fmt.Sprintf("net %q: %s", p.Net, text)
	}
	if pos := p.position().String(); pos != "" {
		text = pos + ": " + text
	}
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

func (p Problem) position() gate.Position {
	return gate.Position{File: p.File, Line: p.Line, Column: p.Column}
}

// Problems is a list of problems. As an error it is those that keep a policy
// from loading.
type Problems []Problem

// Error is one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single problems to errors.As.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// Of lists the problems of one severity.
func (ps Problems) Of(s Severity) Problems {
	var of Problems
	for _, p := range ps {
		if p.Severity == s {
			of = append(of, p)
		}
	}
	return of
}

func problem(s Severity, code rules.Code, pos gate.Position, msg, hint string) Problem {
	return Problem{Severity: s, Code: code, File: pos.File, Line: pos.Line, Column: pos.Column, Message: msg, Hint: hint}
}

func ruleError(e *rules.Error) Problem {
	p := problem(Error, e.Code, e.Pos, e.Msg, e.Hint)
	p.Excerpt = e.Excerpt()
	return p
}

func ruleWarning(w rules.Warning) Problem {
	p := problem(Warning, w.Code, w.Pos, w.Msg, w.Hint)
	if w.Code == rules.Forgotten {
		p.Severity = Note
	}
	p.Excerpt = w.Excerpt()
	return p
}

func position(p config.Position) gate.Position { return gate.Position(p) }
