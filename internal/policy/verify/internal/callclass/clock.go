package callclass

// WhyTime is the reason for calls left out because [Options].Stop ended the enumeration.
const WhyTime = "the time ran out"

// askEvery is the number of forms enumerated between two calls of stop.
const askEvery = 64

// A clock limits the duration of the enumeration. Calls not enumerated in time are left out
// everywhere. A nil clock never ends it.
type clock struct {
	stop  func() bool // nil: never
	ticks int
	late  bool
}

// over reports whether the time is over, asking stop.
func (c *clock) over() bool {
	if c == nil {
		return false
	}
	c.late = c.late || c.stop != nil && c.stop()
	return c.late
}

// tick is like over, but asks stop only from time to time.
func (c *clock) tick() bool {
	c.ticks++
	if c.ticks%askEvery == 0 {
		return c.over()
	}
	return c.late
}
