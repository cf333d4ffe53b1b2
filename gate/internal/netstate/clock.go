package netstate

import (
	"slices"
	"time"
)

// A Clock records when each timed transition of a net last ticked. A timed transition is one that
// the clock fires. A Clock is immutable. In a nil Clock, all times are unknown.
type Clock struct {
	Time  time.Time   // time when the net last changed
	Since []time.Time // when each transition with Every last ticked or became enabled; zero if it is not enabled or the time is unknown
}

// Latest returns the later of t and the clock's time.
func Latest(c *Clock, t time.Time) time.Time {
	if c != nil && c.Time.After(t) {
		return c.Time
	}
	return t
}

// Since returns when the timed transition k last ticked or became enabled.
func Since(c *Clock, k int) time.Time {
	if c == nil {
		return time.Time{}
	}
	return c.Since[k]
}

// CopyClock returns a copy of c with its time set to t. If c is nil, CopyClock returns a new clock
// for the given number of timed transitions.
func CopyClock(c *Clock, timed int, t time.Time) *Clock {
	if c == nil {
		return &Clock{Time: t, Since: make([]time.Time, timed)}
	}
	return &Clock{Time: t, Since: slices.Clone(c.Since)}
}

// equalTicks reports whether the two clocks have the same tick times.
func (c *Clock) equalTicks(o *Clock) bool {
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
