package netstate

import (
	"slices"
	"time"
)

// A Clock is the time of a net with transitions that fire by the clock. It is replaced
// and never changed. A nil pointer is one of which nothing is known.
type Clock struct {
	Time  time.Time   // the latest at which the net was moved
	Since []time.Time // for each of the transitions: its last tick, or when it was enabled; zero: it is not, or not known to be
}

// Latest returns t, or the time of the clock if that is later.
func Latest(c *Clock, t time.Time) time.Time {
	if c != nil && c.Time.After(t) {
		return c.Time
	}
	return t
}

// Since returns when the timed transition with this index ticked last.
func Since(c *Clock, k int) time.Time {
	if c == nil {
		return time.Time{}
	}
	return c.Since[k]
}

// CopyClock returns a copy of the clock, of that many timed transitions, at the time t.
func CopyClock(c *Clock, timed int, t time.Time) *Clock {
	if c == nil {
		return &Clock{Time: t, Since: make([]time.Time, timed)}
	}
	return &Clock{Time: t, Since: slices.Clone(c.Since)}
}

// like reports whether both clocks tick at the same times.
func (c *Clock) like(o *Clock) bool {
	timed := 0
	if c != nil {
		timed = len(c.Since)
	}
	if o != nil {
		timed = max(timed, len(o.Since))
	}
	for k := range timed {
		if !Since(c, k).Equal(Since(o, k)) {
			return false
		}
	}
	return true
}
