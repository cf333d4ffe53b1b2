package policy

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/rules"
)

// The problems of policies; those of rules are in package rules.
const (
	InvalidNet    = "E101" // a hand-written net that the gate does not accept
	BadPattern    = "E102" // a pattern in the map of a net
	UnknownActive = "E103" // a name in "active" that no net has
	BadDefault    = "E104" // a default that there is not
	MalformedNet  = "E105" // a net that cannot be read
	UnknownNet    = "E106" // a claim about a net that there is not
	UnknownPlace  = "E107" // a claim about places that no net has
	BadExpression = "E108" // an expression of a net, in CEL
	BadCommand    = "E109" // the words of a command in the map of a net
	WeakUnless    = "E110" // an exemption for a name that is never certain

	BareName = "E111" // a name that tools of several servers may have, where it is to count

	UnknownTool   = "W101" // a name that no known tool has
	FirstMatch    = "W102" // "match: first", which lets combined commands through
	ReleasedToken = "W103" // "unknown: release", which counts a lost call as not made
	GlobInNet     = "W104" // a tool of a net that looks like a pattern

	UnknownClaimed = "W105" // a claim about a call that nothing gates
	TwoWindows     = "W106" // a net of one session that is meant for all of them
	UnknownField   = "W107" // a map, a key or a sum that reads an argument which the tool does not take
	WeakProgress   = "W108" // "weak: progress", which takes a doubtful name for the name
	UnusedPlace    = "W109" // a place with which no transition has to do
	NoEvidence     = "W110" // a rule that waits for a command which proves nothing
	IdleAllow      = "W111" // an allow where every call is allowed that no rule names
	IdleDeny       = "W112" // a limit that makes every tool known where the default is to deny
	NearName       = "W113" // a name that looks like another one, misspelt
	MissedName     = "W114" // a pattern such as pay_*, where a rule names pay
	Unasked        = "W115" // an approval that nobody could give
	UntoldEnd      = "W116" // a rule that waits for a script whose end no hook tells
	NoCondition    = "W117" // a rule waits for the success of a script, and nothing defines that success
	ReadIgnored    = "W119" // a map, a key or a sum reads an argument of approval.ignore; W118 is of check
)

func problem(s diag.Severity, code string, pos gate.Position, msg, hint string) diag.Problem {
	p := diag.At(diag.Position(pos), msg, hint)
	p.Severity, p.Code = s, code
	return p
}

// RuleProblem returns an error of a rules file as a problem.
func RuleProblem(e *rules.Error) diag.Problem {
	p := problem(diag.Error, string(e.Code), e.Pos, e.Msg, e.Hint)
	p.Excerpt = e.Excerpt()
	return p
}

func ruleWarning(w rules.Warning) diag.Problem {
	p := problem(diag.Warning, string(w.Code), w.Pos, w.Msg, w.Hint)
	p.Excerpt = w.Excerpt()
	return p
}

func position(p config.Position) gate.Position { return gate.Position(p) }

// QuotedRule returns where a net was written, with the line.
func QuotedRule(at gate.Position, net string) string {
	line, _, _ := strings.Cut(diag.At(diag.Position(at), "", "").SourceLine(), "\n")
	if line = strings.TrimSpace(line); line == "" {
		line = net
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %s", at, line))
}

// MarkingText returns where tokens are; "empty" if there are none.
func MarkingText(m gate.Marking) string {
	if text := m.String(); text != "" {
		return text
	}
	return "empty"
}
