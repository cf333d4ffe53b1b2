package text

import (
	"slices"
	"time"
)

// periods lists the periods that have a name, shortest first. The periods of the limits in package
// rules must be among them.
var periods = [...]struct {
	name   string
	length time.Duration
}{
	{"second", time.Second},
	{"minute", time.Minute},
	{"hour", time.Hour},
	{"day", 24 * time.Hour},
}

// Period formats the period of a limit as in rules, such as "day". If the period has no name, the
// result is a duration, such as "12h".
func Period(d time.Duration) string {
	for _, p := range periods {
		if p.length == d {
			return p.name
		}
	}
	return Exact(d)
}

// NamedPeriod rounds d down to a period that has a name. If d is shorter than all of these periods,
// it returns the shortest one.
func NamedPeriod(d time.Duration) time.Duration {
	for _, p := range slices.Backward(periods[:]) {
		if d >= p.length {
			return p.length
		}
	}
	return periods[0].length
}
