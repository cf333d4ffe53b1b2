package proxytest

import (
	"sync"
	"time"
)

// A Clock is a simulated clock. Its time changes only when a test changes it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock set to a fixed time.
func NewClock() *Clock { return ClockAt(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)) }

// ClockAt returns a clock set to the given time.
func ClockAt(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the clock's current time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move advances the clock by d.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
