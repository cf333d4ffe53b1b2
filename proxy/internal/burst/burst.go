// Package burst combines the work on messages that were read together, so that they can share one
// slow step such as a write to disk.
package burst

import "sync"

// Most is the maximum number of messages in a burst. If all messages that a client has in flight
// were one burst, client, proxy and server would take turns instead of working concurrently.
const Most = 32

// Several is the minimum number of calls in flight that makes further calls likely, so that a short
// wait for them pays off.
const Several = 5

// A Reading finds the beginning and end of bursts in the messages of one reader. It is not safe for
// concurrent use.
type Reading struct {
	Begin, End func()

	left int // messages that the burst can still have; 0: no burst
}

// Before must be called before each message is handled. more reports that another message can be
// read without blocking.
func (r *Reading) Before(more bool) {
	if r.left == 0 && more {
		r.left = Most
		r.Begin()
	}
}

// After must be called after each message was handled. more is as for Before.
func (r *Reading) After(more bool) {
	if r.left > 1 && more {
		r.left--
	} else {
		r.Stop()
	}
}

// Stop ends the current burst, if any.
func (r *Reading) Stop() {
	if r.left > 0 {
		r.left = 0
		r.End()
	}
}

// A Step is the rest of the work on one message. Continue can block first.
type Step interface{ Continue() }

// A Burst holds steps back while more messages can be read, so that they block together, and then
// runs them in order. The zero value is ready for use, and safe for concurrent use. A nil Burst
// holds nothing back.
type Burst struct {
	mu     sync.Mutex
	active bool // a burst has begun and not ended
	steps  []Step
}

// Begin begins a burst.
func (b *Burst) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active = true
}

// Add holds a step back. It reports false outside of a burst: then the caller must run the step
// itself.
func (b *Burst) Add(s Step) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active {
		b.steps = append(b.steps, s)
	}
	return b.active
}

// Flush runs the steps held back, before a message of another kind. The burst continues.
func (b *Burst) Flush() {
	for _, s := range b.take(true) {
		s.Continue()
	}
}

// End ends the burst and runs the steps held back.
func (b *Burst) End() {
	for _, s := range b.take(false) {
		s.Continue()
	}
}

// take removes and returns the steps held back. The burst continues if stays is true.
func (b *Burst) take(stays bool) []Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := b.steps
	b.steps = nil
	b.active = b.active && stays
	return steps
}
