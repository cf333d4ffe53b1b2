package rules

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
)

// An Error is a problem that keeps a rules file from loading.
type Error struct {
	Pos  gate.Position // columns count runes, from 1
	Code Code
	Msg  string
	Hint string // what to write instead; may be empty

	span span
}

// Error returns the problem on one line: file:line:column: message (hint).
func (e *Error) Error() string { return oneLine(e.Pos, e.Msg, e.Hint) }

// Excerpt returns the source line with a caret below the position, or "" if the
// line is not known.
func (e *Error) Excerpt() string { return e.span.excerpt() }

// A Warning is about a statement that loads, but is probably a mistake.
type Warning struct {
	Pos  gate.Position
	Code Code
	Msg  string
	Hint string // what to write instead; may be empty

	span span
}

// String returns the warning on one line: file:line:column: message (hint).
func (w Warning) String() string { return oneLine(w.Pos, w.Msg, w.Hint) }

// Excerpt returns the source line with a caret below the position.
func (w Warning) Excerpt() string { return w.span.excerpt() }

// ErrorList has the errors of some files, at most one for each line, in the order
// of files and lines.
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

// Unwrap returns the errors of the list, for errors.As.
func (l ErrorList) Unwrap() []error { return diag.Errors(l) }

// A Code names a kind of problem. Codes are stable: a tool may rely on them.
type Code string

// The errors.
const (
	NotUTF8        Code = "E001" // the line is not UTF-8
	ControlChar    Code = "E002" // a control character
	UnknownKeyword Code = "E003" // the line begins with an unknown word
	Missing        Code = "E004" // the statement ends too early
	Unexpected     Code = "E005" // another word was expected here
	Trailing       Code = "E006" // something follows the statement
	BadQuotes      Code = "E007" // an invalid quoted name
	BadCount       Code = "E008" // the N of a limit
	WrongCase      Code = "E009" // a keyword in the wrong case
	SelfRefill     Code = "E010" // a limit that gives back its own calls
	BadOperand     Code = "E011" // the T.F of a map
	EmptyRegex     Code = "E012" // a map with //
	BadRegex       Code = "E013" // a regex that RE2 does not accept
	RegexTail      Code = "E014" // something after the closing slash
	LargeRegex     Code = "E015" // a regex over the limits
	MapGlob        Code = "E017" // a glob for the tool of an example
	QuotedWord     Code = "E018" // quotes around the word of a map
	AmbiguousRegex Code = "E019" // a slash that is a word or a regex
	UnknownClaim   Code = "E020" // the word after prove
	UnknownChannel Code = "E021" // the word after via
	NoRule         Code = "E022" // shadow before a statement that is not a rule
	BadPath        Code = "E023" // a field path that leads nowhere
	BadCommand     Code = "E024" // the command of runs
	BadExpression  Code = "E025" // the expression of when
	WeakExemption  Code = "E026" // unless with a name that is never certain
	BadExample     Code = "E027" // the text or the arguments of an example
	NoSuchMap      Code = "E028" // an example of a name that no map gives
	FailedExample  Code = "E029" // an example that the maps do not meet
	PatternName    Code = "E030" // a regex where a name belongs
	BadField       Code = "E031" // a field of a key or a sum that is none
	BadKey         Code = "E032" // a key that the rule cannot have
	ManyPairs      Code = "E033" // two long lists
)

// The warnings.
const (
	Repeated       Code = "W001" // a repeated statement
	UnusedLabel    Code = "W002" // a map whose name no rule uses
	InvisibleChar  Code = "W003" // an invisible character
	WeakEvidence   Code = "W004" // a text pattern taken as proof of a call
	NoRefill       Code = "W005" // a refill that gives nothing back
	SelfRequire    Code = "W006" // a call that is required before itself
	KeywordLike    Code = "W007" // a name that looks like a keyword
	MatchesAll     Code = "W008" // a regex that matches every text
	WordLikeRegex  Code = "W009" // a word that looks like a regex
	LabelLikeGlob  Code = "W010" // a label that a rule reads as a glob
	ContraryLimits Code = "W011" // two limits on the same calls
	Locked         Code = "W012" // a requirement that only the locked calls can meet
	Anchored       Code = "W013" // a regex that finds a command at one end of the text only
	AnyCharacter   Code = "W014" // a dot in a regex that looks like one of a name
	TextOfScript   Code = "W015" // a word in a field that is a script elsewhere
	IdleLimit      Code = "W016" // a limit that is never reached
	AllExempt      Code = "W017" // a rule that exempts all its calls
	ShadowTwin     Code = "W018" // a rule in shadow that is enforced too
	FailureRefills Code = "W020" // a refill by failures of a call that another rule requires to succeed
	SelfSpoil      Code = "W021" // a call that takes away the success that it earns or uses
	EndsItself     Code = "W022" // a rule between two calls that ends where it begins, or never
	ManyBudgets    Code = "W023" // a limit for each value, and the caller chooses how to write the value
	LikePath       Code = "W024" // a key that looks like a path
	OwnRefill      Code = "W025" // a limit for each value that its own calls refill for other values
	LikeExpression Code = "W026" // a name that looks like an expression
	IdleStar       Code = "W027" // a * between the words of a command
	NoProof        Code = "W028" // an example of a call that is restricted, and whose success proves nothing
	KeywordAsWord  Code = "W029" // a map that looks for the word runs, reads, writes, when or exactly
	NoComparison   Code = "W030" // a condition on results that is perhaps not a truth value
)

// oneLine formats a problem without its source line.
func oneLine(pos gate.Position, msg, hint string) string {
	return diag.At(diag.Position(pos), msg, hint).Error()
}

// A span is the part of a source line that a problem is about.
type span struct {
	line          string
	column, width int // in runes
}

// excerpt returns the line and carets below the span; empty without a span.
func (s span) excerpt() string {
	if s.width == 0 {
		return ""
	}
	return diag.Excerpt(s.line, s.column, s.width) + "\n"
}
