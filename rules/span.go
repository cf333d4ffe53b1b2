package rules

import (
	"slices"
	"strings"
	"time"
)

// A Span selects the calls that a limit counts together, such as the calls in one session, in an
// hour, or in progress at the same time. Limits of the form "per CALL" do not use a Span.
type Span uint8

// Values of Span. Each has a row in the table spans.
const (
	Session Span = iota // calls in one session
	User                // calls in all sessions of a principal
	Second              // calls in a time span: a second, minute, hour or day
	Minute
	Hour
	Day
	AtOnce // calls in progress at the same time
	InARow // consecutive identical calls
)

// A spanRow holds the spelling and the length of a span.
type spanRow struct {
	word   string        // keyword after "per", as in "per session"; empty for a span written without "per"
	short  []string      // abbreviations that authors write instead of the keyword
	phrase string        // notation of a span written without "per", such as "at once"
	window time.Duration // length of a time span
}

// spans describes each span. Time spans are sorted by length. A new span needs a row here, a
// constant above, and a keyword in the grammar in doc.go and in the editors' grammars (folder
// editors). A new time span also needs a row in internal/text, which formats periods for package
// gate. For any other new span, limitNet must build its own kind of net. Tests find any missing
// row.
var spans = [...]spanRow{
	Session: {word: "session"},
	User:    {word: "user"},
	Second:  {word: "second", short: []string{"s", "sec"}, window: time.Second},
	Minute:  {word: "minute", short: []string{"m", "min"}, window: time.Minute},
	Hour:    {word: "hour", short: []string{"h", "hr"}, window: time.Hour},
	Day:     {word: "day", short: []string{"d"}, window: 24 * time.Hour},
	AtOnce:  {phrase: "at once"},
	InARow:  {phrase: "in a row"},
}

// String returns the span as written in rules.
func (o Span) String() string {
	if row := spans[o]; row.word == "" {
		return row.phrase
	}
	return "per " + spans[o].word
}

// Window returns the length of a time span, or 0 for other spans.
func (o Span) Window() time.Duration { return spans[o].window }

// SpanWords returns the keywords that may follow "per".
func SpanWords() []string { return spanWords(0) }

// TimeSpans returns the keywords of the time spans, shortest first.
func TimeSpans() []string { return spanWords(1) }

// spanWords returns the keywords of the spans that are at least as long as window.
func spanWords(window time.Duration) (words []string) {
	for _, r := range spans {
		if r.word != "" && r.window >= window {
			words = append(words, r.word)
		}
	}
	return words
}

// spanOf returns the span with the given keyword, in any letter case.
func spanOf(word string) (Span, bool) {
	i := slices.IndexFunc(spans[:], func(r spanRow) bool { return r.word != "" && strings.EqualFold(r.word, word) })
	return Span(max(i, 0)), i >= 0
}

// timeSpanOf returns the time span for a keyword, its plural or an abbreviation.
func timeSpanOf(word string) (Span, bool) {
	word = strings.ToLower(word)
	one := strings.TrimSuffix(word, "s")
	i := slices.IndexFunc(spans[:], func(r spanRow) bool {
		return r.window > 0 && (r.word == one || slices.Contains(r.short, word) || slices.Contains(r.short, one))
	})
	return Span(max(i, 0)), i >= 0
}
