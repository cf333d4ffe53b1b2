package text

import (
	"slices"
	"time"
)

// periods lists the named periods, shortest first. It must include the periods of limits in package
// rules.
var periods = [...]struct {
	name   string
	length time.Duration
}{
	{"second", time.Second},
	{"minute", time.Minute},
	{"hour", time.Hour},
	{"day", 24 * time.Hour},
}

// Period formats the period of a limit. If the period has a name in rules, such as "day", the
// result is this name. Otherwise, it is a duration such as "12h".
func Period(d time.Duration) string {
	for _, p := range periods {
		if p.length == d {
			return p.name
		}
	}
	return Exact(d)
}

// NamedPeriod rounds d down to a named period. If d is shorter than all of them, it returns the
// shortest.
func NamedPeriod(d time.Duration) time.Duration {
	for _, p := range slices.Backward(periods[:]) {
		if d >= p.length {
			return p.length
		}
	}
	return periods[0].length
}
