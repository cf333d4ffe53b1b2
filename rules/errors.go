package rules

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
)

// An Error is a problem that prevents a rules file from loading.
type Error struct {
	Pos  gate.Position // Column counts characters from 1
	Code Code
	Msg  string
	Hint string // what to write instead; may be empty

	span span
}

// Error returns the problem on a single line: file:line:column: message (hint).
func (e *Error) Error() string { return oneLine(e.Pos, e.Msg, e.Hint) }

// Excerpt returns the source line with carets below the position, or "" if the line is unknown.
func (e *Error) Excerpt() string { return e.span.excerpt() }

// A Warning points out a statement that loads but is probably a mistake.
type Warning struct {
	Pos  gate.Position
	Code Code
	Msg  string
	Hint string // what to write instead; may be empty

	span span
}

// String returns the warning on a single line: file:line:column: message (hint).
func (w Warning) String() string { return oneLine(w.Pos, w.Msg, w.Hint) }

// Excerpt returns the source line with carets below the position.
func (w Warning) Excerpt() string { return w.span.excerpt() }

// ErrorList contains the errors in one or more files, at most one per line, in file and line order.
type ErrorList []*Error

// Error returns all errors, one per line, without the source.
func (l ErrorList) Error() string { return diag.Lines(l) }

// Format returns all errors with their source lines, for a terminal.
func (l ErrorList) Format() string {
	var b strings.Builder
	for _, e := range l {
		b.WriteString(e.Error())
		b.WriteByte('\n')
		b.WriteString(e.Excerpt())
	}
	return b.String()
}

// Unwrap returns the individual errors, for errors.As.
func (l ErrorList) Unwrap() []error { return diag.Errors(l) }

// A Code identifies a kind of problem. Codes are stable, so that tools can rely on them.
type Code string

// Error codes.
const (
	NotUTF8        Code = "E001" // the line is not valid UTF-8
	ControlChar    Code = "E002" // the line contains a control character
	UnknownKeyword Code = "E003" // the line begins with an unknown word
	Missing        Code = "E004" // the statement ends too early
	Unexpected     Code = "E005" // another word is expected here
	Trailing       Code = "E006" // something follows the statement
	BadQuotes      Code = "E007" // the quoted name is invalid
	BadCount       Code = "E008" // the count is invalid
	WrongCase      Code = "E009" // the keyword is in the wrong letter case
	SelfRefill     Code = "E010" // the limit's own calls refill it
	BadOperand     Code = "E011" // the map's tool or field is invalid
	EmptyRegex     Code = "E012" // the map's regex is empty
	BadRegex       Code = "E013" // the regex is not valid RE2
	RegexTail      Code = "E014" // something follows the regex's closing slash
	LargeRegex     Code = "E015" // the regex exceeds a limit
	MapGlob        Code = "E017" // the example's tool is a glob
	QuotedWord     Code = "E018" // the map's word is in quotes
	AmbiguousRegex Code = "E019" // the slash may begin a word or a regex
	UnknownClaim   Code = "E020" // the word after prove is unknown
	UnknownChannel Code = "E021" // the word after via is unknown
	NoRule         Code = "E022" // the statement after shadow is not a rule
	BadPath        Code = "E023" // the field's path is invalid
	BadCommand     Code = "E024" // the command after runs is invalid
	BadExpression  Code = "E025" // the expression after when is invalid
	WeakExemption  Code = "E026" // unless contains a name that is never certain
	BadExample     Code = "E027" // the example's text or arguments are invalid
	NoSuchMap      Code = "E028" // no map gives the example's name
	FailedExample  Code = "E029" // the maps do not produce the example's result
	PatternName    Code = "E030" // a regex is used where a name is expected
	BadField       Code = "E031" // the field in a key or sum is invalid
	BadKey         Code = "E032" // the rule cannot have this key
	ManyPairs      Code = "E033" // two long lists form too many pairs
)

// Warning codes.
const (
	Repeated       Code = "W001" // the statement is a duplicate
	UnusedLabel    Code = "W002" // no rule uses the map's name
	InvisibleChar  Code = "W003" // a name contains an invisible character
	WeakEvidence   Code = "W004" // a text pattern counts as evidence of a call
	NoRefill       Code = "W005" // a refilling call refills nothing
	SelfRequire    Code = "W006" // a call is required before itself
	KeywordLike    Code = "W007" // a name looks like a keyword
	MatchesAll     Code = "W008" // the regex matches every text
	WordLikeRegex  Code = "W009" // the word looks like a regex
	LabelLikeGlob  Code = "W010" // a rule treats the map's name as a glob
	ContraryLimits Code = "W011" // two limits apply to the same calls
	Locked         Code = "W012" // only the locked calls could meet the requirement
	Anchored       Code = "W013" // the regex finds a command only at the beginning or end of the text
	AnyCharacter   Code = "W014" // a dot in the regex looks like a literal dot
	TextOfScript   Code = "W015" // the word is in a field that another map reads as a script
	IdleLimit      Code = "W016" // the limit is never reached
	AllExempt      Code = "W017" // the rule exempts all its calls
	ShadowTwin     Code = "W018" // the rule in shadow is also enforced
	FailureRefills Code = "W020" // failed calls refill the limit, although another rule requires a success
	SelfSpoil      Code = "W021" // a call cancels the success that it earns or uses
	EndsItself     Code = "W022" // a rule between two calls begins and ends with the same call, or never ends
	ManyBudgets    Code = "W023" // the limit counts each value separately, and the caller can vary the value
	LikePath       Code = "W024" // a key of the arguments looks like a path
	OwnRefill      Code = "W025" // calls that count in a limit can refill it for other values
	LikeExpression Code = "W026" // a name looks like an expression
	IdleStar       Code = "W027" // a * between the words of a command has no effect
	NoProof        Code = "W028" // the example's call is restricted, but its success does not count as evidence
	KeywordAsWord  Code = "W029" // a map looks for the word runs, reads, writes, when or exactly
	NoComparison   Code = "W030" // a condition on results has no comparison, so it might not be a boolean
)

// oneLine formats a problem without its source line.
func oneLine(pos gate.Position, msg, hint string) string {
	return diag.At(diag.Position(pos), msg, hint).Error()
}

// A span is the part of a source line that a problem refers to.
type span struct {
	line          string
	column, width int // start and length of the span, in runes
}

// excerpt returns the line with carets below the span, or "" for the zero span.
func (s span) excerpt() string {
	if s.width == 0 {
		return ""
	}
	return diag.Excerpt(s.line, s.column, s.width) + "\n"
}
