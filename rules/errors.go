package rules

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
)

// An Error is a problem that prevents a rules file from loading.
type Error struct {
	Pos  gate.Position // Column counts characters, starting at 1
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
	Missing        Code = "E004" // the statement lacks a required word
	Unexpected     Code = "E005" // a word is not the expected one
	Trailing       Code = "E006" // text follows the end of the statement
	BadQuotes      Code = "E007" // a quoted name is invalid
	BadCount       Code = "E008" // a count is invalid
	WrongCase      Code = "E009" // a keyword is in the wrong letter case
	SelfRefill     Code = "E010" // a limit is refilled by the calls that it limits
	BadOperand     Code = "E011" // the tool or field of a map is invalid
	EmptyRegex     Code = "E012" // a regex is empty
	BadRegex       Code = "E013" // a regex is not valid RE2
	RegexTail      Code = "E014" // text follows the closing slash of a regex
	LargeRegex     Code = "E015" // a regex is too large
	MapGlob        Code = "E017" // the tool in an example is a glob
	QuotedWord     Code = "E018" // the word that a map looks for is in quotes
	AmbiguousRegex Code = "E019" // a slash could begin either a word or a regex
	UnknownClaim   Code = "E020" // the word after "prove" is unknown
	UnknownChannel Code = "E021" // the word after "via" is unknown
	NoRule         Code = "E022" // the statement after "shadow" is not a rule
	BadPath        Code = "E023" // the path of a field is invalid
	BadCommand     Code = "E024" // the command after "runs" is invalid
	BadExpression  Code = "E025" // the expression after "when" is invalid
	WeakExemption  Code = "E026" // "unless" is followed by a name that no call is certain to have
	BadExample     Code = "E027" // the text or the arguments in an example are invalid
	NoSuchMap      Code = "E028" // an example expects a name that no map gives to calls to its tool
	FailedExample  Code = "E029" // the maps give the call in an example names other than the expected ones
	PatternName    Code = "E030" // a regex is used where a name is expected
	BadField       Code = "E031" // a field in a key or sum is invalid
	BadKey         Code = "E032" // the key cannot be used in this rule
	ManyPairs      Code = "E033" // the two lists of a requirement are too long: each pair of their names needs a net
)

// Warning codes.
const (
	Repeated       Code = "W001" // the statement repeats another one
	UnusedLabel    Code = "W002" // no rule uses the name that a map gives
	InvisibleChar  Code = "W003" // a name contains an invisible character
	WeakEvidence   Code = "W004" // a rule relies on a name that a map gives to calls that might not perform the named action
	NoRefill       Code = "W005" // the call that should refill a limit uses up the limit instead
	SelfRequire    Code = "W006" // a call is required before itself
	KeywordLike    Code = "W007" // a name looks like a keyword
	MatchesAll     Code = "W008" // a regex matches every text
	WordLikeRegex  Code = "W009" // a word looks like a regex
	LabelLikeGlob  Code = "W010" // a name given by a map looks like a glob, and a rule treats it as one
	ContraryLimits Code = "W011" // two limits differ only in their counts
	Locked         Code = "W012" // a call is locked forever, because every call that could unlock it is locked as well
	Anchored       Code = "W013" // a regex finds a command only at the beginning or end of the text
	AnyCharacter   Code = "W014" // a dot in a regex looks like a literal dot
	TextOfScript   Code = "W015" // a map looks for a word in a field that another map reads as a script
	IdleLimit      Code = "W016" // a limit is never reached
	AllExempt      Code = "W017" // a rule exempts all its calls
	ShadowTwin     Code = "W018" // a shadow rule repeats an enforced rule
	FailureRefills Code = "W020" // failed calls refill a limit, although another rule requires a successful call
	SelfSpoil      Code = "W021" // a call cancels its own success or the success of a call that it requires
	EndsItself     Code = "W022" // a rule ends with the call that begins it, or blocks the call that should end it
	ManyBudgets    Code = "W023" // a limit counts each value separately, and the caller can vary the value
	LikePath       Code = "W024" // an argument key looks like a path
	OwnRefill      Code = "W025" // a call that counts toward a limit for one value can refill the limit for another value
	LikeExpression Code = "W026" // a name looks like an expression
	IdleStar       Code = "W027" // a * between the words of a command has no effect
	NoProof        Code = "W028" // the call in an example has the expected name, but its success does not count under that name
	KeywordAsWord  Code = "W029" // a map looks for the word "runs", "reads", "writes", "when" or "exactly"
	NoComparison   Code = "W030" // a condition on results has no comparison, so it might not be a boolean
	LookAlike      Code = "W031" // a name mixes letters from several alphabets
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
