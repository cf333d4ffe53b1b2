package rules

import (
	"slices"
	"strings"
	"time"
)

// A Span is what a limit counts over if no call refills it.
type Span uint8

// The spans. Each has a row in the table of spans.
const (
	Session Span = iota // per session
	User                // per user: all sessions of a principal
	Second              // per second, and so on: calls come back with time
	Minute
	Hour
	Day
	AtOnce // at once: calls under way
	InARow // in a row: equal calls with no other between them
)

// A spanRow is a row of the table of spans.
type spanRow struct {
	word   string        // keyword after "per"; empty: the span is written otherwise
	short  []string      // words that people write for it
	phrase string        // the span as a rule writes it, in place of "per" and the word
	window time.Duration // of a span of time
}

// spans is the table of spans. A new unit is a row here, a constant above and a word in
// the grammars of editors; spans of time stand in order of their length.
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

// String returns the words of the span.
func (o Span) String() string {
	if row := spans[o]; row.word == "" {
		return row.phrase
	}
	return "per " + spans[o].word
}

// Window returns the length of a span of time; 0 for the others.
func (o Span) Window() time.Duration { return spans[o].window }

// SpanWords returns the keywords after "per".
func SpanWords() []string { return spanWords(0) }

// TimeSpans returns the keywords of the spans of time, the shortest first.
func TimeSpans() []string { return spanWords(1) }

// spanWords returns the keywords of the spans with a window of at least this length.
func spanWords(window time.Duration) (words []string) {
	for _, r := range spans {
		if r.word != "" && r.window >= window {
			words = append(words, r.word)
		}
	}
	return words
}

// spanOf returns the span of a keyword, also in capitals.
func spanOf(word string) (Span, bool) {
	i := slices.IndexFunc(spans[:], func(r spanRow) bool { return r.word != "" && strings.EqualFold(r.word, word) })
	return Span(max(i, 0)), i >= 0
}

// timeSpanOf returns the span of time that a word is for: a keyword, a plural or a short word.
func timeSpanOf(word string) (Span, bool) {
	word = strings.ToLower(word)
	one := strings.TrimSuffix(word, "s")
	i := slices.IndexFunc(spans[:], func(r spanRow) bool {
		return r.window > 0 && (r.word == one || slices.Contains(r.short, word) || slices.Contains(r.short, one))
	})
	return Span(max(i, 0)), i >= 0
}
