package text

import (
	"slices"
	"time"
)

// periods lists the periods with a name, shortest first. Those of limits in package rules must be
// among them.
var periods = [...]struct {
	name   string
	length time.Duration
}{
	{"second", time.Second},
	{"minute", time.Minute},
	{"hour", time.Hour},
	{"day", 24 * time.Hour},
}

// Period formats a limit's period as rules write it: "day" or, for a period without a name, for
// example "12h".
func Period(d time.Duration) string {
	for _, p := range periods {
		if p.length == d {
			return p.name
		}
	}
	return Exact(d)
}

// NamedPeriod rounds d down to a period with a name. A d that is shorter than all of them becomes
// the shortest one.
func NamedPeriod(d time.Duration) time.Duration {
	for _, p := range slices.Backward(periods[:]) {
		if d >= p.length {
			return p.length
		}
	}
	return periods[0].length
}
