package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// numberedSpan parses a number with an optional unit attached to it, such as 10 or 10m. If the
// number has no unit, the second result is empty.
func numberedSpan(text string) (n int, word string, ok bool) {
	word = strings.TrimLeft(text, "0123456789")
	n, err := strconv.Atoi(strings.TrimSuffix(text, word))
	_, known := timeSpanOf(word)
	return n, word, err == nil && (word == "" || known)
}

// spansHint returns a hint for a limit whose span consists of a number and a unit, such as "per 10
// minutes". The hint lists the time spans. If possible, it also suggests a similar limit without a
// number in the span.
func (p ruleParser) spansHint(l *Limit, n int, word string) string {
	one := "use " + text.Join(TimeSpans(), "or")
	write := func(count int, span string) string {
		return fmt.Sprintf("%s; write: limit %s to %d per %s", one, joinNames(l.Tools), count, span)
	}
	words := TimeSpans()
	longest := seconds(words[len(words)-1])
	unit, ok := timeSpanOf(word)
	if !ok || n < 1 || n > longest || l.Count == 0 {
		return one
	}
	length := n * seconds(spans[unit].word)
	next := slices.IndexFunc(words, func(span string) bool { return seconds(span) >= length })
	switch {
	case next < 0 && l.Count >= n:
		return write(l.Count/n, spans[unit].word)
	case next < 0:
		return one
	case seconds(words[next]) == length || l.Count > math.MaxInt32/longest:
		return write(l.Count, words[next])
	}
	rate := l.Count * seconds(words[next]) / length
	return write(l.Count, words[next]) + fmt.Sprintf(" (stricter), or %d per %s (the same rate, but more at once)", rate, words[next])
}

// seconds returns the length in seconds of the time span with the given keyword.
func seconds(word string) int {
	over, _ := spanOf(word)
	return int(over.Window() / time.Second)
}
