package policy

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/rules"
)

// Codes of problems with policies. Package rules defines the codes of problems with rules.
const (
	InvalidNet    = "E101" // the gate rejects a hand-written net
	BadPattern    = "E102" // a map entry of a net has an invalid pattern
	UnknownActive = "E103" // "active" contains an unknown net
	BadDefault    = "E104" // the default decision is neither "allow" nor "deny"
	MalformedNet  = "E105" // a net cannot be parsed
	UnknownNet    = "E106" // a claim refers to an unknown net
	UnknownPlace  = "E107" // a claim refers to places that no net has
	BadExpression = "E108" // a net contains an invalid CEL expression
	BadCommand    = "E109" // a map entry of a net contains an invalid command or file pattern
	WeakUnless    = "E110" // an exemption in a net never applies, because no call is certain to have the exempt name

	BareName = "E111" // an unqualified name that must denote a single tool may denote tools of several servers

	UnknownTool   = "W101" // a name does not belong to any known tool
	FirstMatch    = "W102" // with "match: first", only the first matching map entry of a net assigns a name to a call
	ReleasedToken = "W103" // with "unknown: release", a call counts as not made if its outcome is unknown
	GlobInNet     = "W104" // the name of a tool in a net looks like a pattern

	UnknownClaimed = "W105" // a claim refers to a call that no rule and no net mentions
	TwoWindows     = "W106" // a net has a separate state for each session, but sessions should probably share one
	UnknownField   = "W107" // the policy reads an argument that the tool does not accept
	WeakProgress   = "W108" // with "weak: progress", a transition fires even for a call that only might have the required name
	UnusedPlace    = "W109" // no transition uses a place
	NoEvidence     = "W110" // a rule waits for a command whose success never counts, because of an option such as --dry-run
	IdleAllow      = "W111" // an allow rule has no effect because calls are allowed by default
	IdleDeny       = "W112" // "default: deny" denies no call, because a limit names every tool
	NearName       = "W113" // a name may be a misspelling of another one
	MissedName     = "W114" // a pattern such as pay_* does not match the name pay
	Unasked        = "W115" // an approval cannot be given
	UntoldEnd      = "W116" // a rule waits for a script, but no hook reports how scripts end
	NoCondition    = "W117" // a rule waits for a script to succeed, but nothing defines what counts as success
	ReadIgnored    = "W119" // the policy reads an argument listed in approval.ignore (W118 is in package check)
)

func problem(s diag.Severity, code string, pos gate.Position, msg, hint string) diag.Problem {
	p := diag.At(diag.Position(pos), msg, hint)
	p.Severity, p.Code = s, code
	return p
}

// RuleProblem converts an error in a rules file to a problem.
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

// QuotedRule returns the position of a net, followed by the source line at that position.
func QuotedRule(at gate.Position, net string) string {
	line, _, _ := strings.Cut(diag.At(diag.Position(at), "", "").SourceLine(), "\n")
	if line = strings.TrimSpace(line); line == "" {
		line = net
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %s", at, line))
}

// MarkingText returns the marking as text, or "empty" if it has no tokens.
func MarkingText(m gate.Marking) string {
	if text := m.String(); text != "" {
		return text
	}
	return "empty"
}
