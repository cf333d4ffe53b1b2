package proxytest

import (
	"sync"
	"time"
)

// Clock is a clock that only tests advance.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at a fixed time.
func NewClock() *Clock { return ClockAt(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)) }

// ClockAt returns a clock that shows now.
func ClockAt(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move advances the clock.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
