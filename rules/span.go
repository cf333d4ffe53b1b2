package rules

import (
	"slices"
	"strings"
	"time"
)

// A Span is the period or the set of calls that a limit counts over, unless calls refill it.
type Span uint8

// The spans. Each has a row in the table spans.
const (
	Session Span = iota // calls of one session
	User                // all sessions of a principal
	Second              // spans of time: the budget is refilled over time
	Minute
	Hour
	Day
	AtOnce // calls under way
	InARow // consecutive equal calls
)

// A spanRow is a row of the table of spans.
type spanRow struct {
	word   string        // keyword after "per"; empty: phrase is used instead
	short  []string      // abbreviations that people write
	phrase string        // notation in a rule, in place of "per" and the keyword
	window time.Duration // length of a span of time
}

// spans is the table of spans. A new unit needs a row here, a constant above and a word in the
// grammars of editors (folder editors); a unit of time also needs a row in internal/text, because
// the gate writes periods without this package. Tests find what is missing. Spans of time are sorted
// by length.
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

// String returns the notation of the span in a rule.
func (o Span) String() string {
	if row := spans[o]; row.word == "" {
		return row.phrase
	}
	return "per " + spans[o].word
}

// Window returns the length of a span of time, or 0 for other spans.
func (o Span) Window() time.Duration { return spans[o].window }

// SpanWords returns the keywords after "per".
func SpanWords() []string { return spanWords(0) }

// TimeSpans returns the keywords of the spans of time, shortest first.
func TimeSpans() []string { return spanWords(1) }

// spanWords returns the keywords of the spans with at least the given window.
func spanWords(window time.Duration) (words []string) {
	for _, r := range spans {
		if r.word != "" && r.window >= window {
			words = append(words, r.word)
		}
	}
	return words
}

// spanOf returns the span with a keyword in any letter case.
func spanOf(word string) (Span, bool) {
	i := slices.IndexFunc(spans[:], func(r spanRow) bool { return r.word != "" && strings.EqualFold(r.word, word) })
	return Span(max(i, 0)), i >= 0
}

// timeSpanOf returns the span of time for a keyword, its plural or an abbreviation.
func timeSpanOf(word string) (Span, bool) {
	word = strings.ToLower(word)
	one := strings.TrimSuffix(word, "s")
	i := slices.IndexFunc(spans[:], func(r spanRow) bool {
		return r.window > 0 && (r.word == one || slices.Contains(r.short, word) || slices.Contains(r.short, one))
	})
	return Span(max(i, 0)), i >= 0
}
