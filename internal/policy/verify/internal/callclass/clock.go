package callclass

// WhyTime is why calls were left out where [Options].Stop ended the enumeration.
const WhyTime = "the time ran out"

// askEvery is how many forms are looked at between two questions whether to stop.
const askEvery = 64

// A clock limits the enumeration. Calls not enumerated in time are left out everywhere. Nil
// never ends it.
type clock struct {
	stop  func() bool // nil: never
	ticks int
	late  bool
}

// over asks whether to stop.
func (c *clock) over() bool {
	if c == nil {
		return false
	}
	c.late = c.late || c.stop != nil && c.stop()
	return c.late
}

// tick is over, but asks only now and then.
func (c *clock) tick() bool {
	c.ticks++
	if c.ticks%askEvery == 0 {
		return c.over()
	}
	return c.late
}
