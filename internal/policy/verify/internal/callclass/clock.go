package callclass

// WhyTime is the reason for omitting calls after [Options].Stop ended the enumeration.
const WhyTime = "the time ran out"

// askEvery is the number of combinations of field contents to enumerate between two calls of stop.
const askEvery = 64

// A clock limits the duration of an enumeration. Calls not enumerated in time are missing from all
// results. A nil clock never expires.
type clock struct {
	stop  func() bool // returns true when the enumeration must end; may be nil
	ticks int
	late  bool
}

// expired reports whether time is up. It calls stop to find out.
func (c *clock) expired() bool {
	if c == nil {
		return false
	}
	c.late = c.late || c.stop != nil && c.stop()
	return c.late
}

// tick is like [clock.expired], but calls stop only once every askEvery ticks.
func (c *clock) tick() bool {
	c.ticks++
	if c.ticks%askEvery == 0 {
		return c.expired()
	}
	return c.late
}
