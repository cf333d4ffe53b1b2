package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// lengths are those of the spans of time, in seconds.
var lengths = [...]int{Second: 1, Minute: 60, Hour: 3600, Day: 86400}

// spansHint returns the limits per one span that can stand in place of a limit per n spans,
// whose word comes next.
func (p ruleParser) spansHint(l *Limit, n int) string {
	const one = "a span is one second, minute, hour or day"
	write := func(count int, span string) string {
		return fmt.Sprintf("%s; write: limit %s to %d per %s", one, joinNames(l.Tools), count, span)
	}
	unit := slices.Index(spanWords[:], strings.TrimSuffix(strings.ToLower(p.line.peek().text), "s"))
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
