package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// lengths are those of the spans of time, in seconds.
var lengths = [...]int{Second: 1, Minute: 60, Hour: 3600, Day: 86400}

// shortSpans are short words for spans of time.
var shortSpans = map[string]string{"s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "hr": "hour", "d": "day"}

// numberedSpan reads a number of spans, such as 10m; the word is empty where it does not follow at once.
func numberedSpan(text string) (n int, word string, ok bool) {
	word = strings.TrimLeft(text, "0123456789")
	n, err := strconv.Atoi(strings.TrimSuffix(text, word))
	return n, word, err == nil && (word == "" || spanOf(word) >= int(Second))
}

// spanOf returns the [Span] that a word is for, also in plural; -1: none.
func spanOf(word string) int {
	word = strings.ToLower(word)
	one := strings.TrimSuffix(word, "s")
	return slices.Index(spanWords[:], cmp.Or(shortSpans[word], shortSpans[one], one))
}

// spansHint returns the limits per one span that can stand in place of a limit per n of the spans
// that have the word.
func (p ruleParser) spansHint(l *Limit, n int, word string) string {
	const one = "a span is one second, minute, hour or day"
	write := func(count int, span string) string {
		return fmt.Sprintf("%s; write: limit %s to %d per %s", one, joinNames(l.Tools), count, span)
	}
	unit := spanOf(word)
	if unit < int(Second) || n < 1 || n > lengths[Day] || l.Count == 0 {
		return one
	}
	length := n * lengths[unit]
	next := slices.IndexFunc(lengths[:], func(span int) bool { return span >= length })
	switch {
	case next < 0 && l.Count >= n:
		return write(l.Count/n, spanWords[unit])
	case next < 0:
		return one
	case lengths[next] == length || l.Count > math.MaxInt32/lengths[Day]:
		return write(l.Count, spanWords[next])
	}
	rate := l.Count * lengths[next] / length
	return write(l.Count, spanWords[next]) + fmt.Sprintf(" (stricter), or %d per %s (as many in a long time, and more at once)", rate, spanWords[next])
}
