// Package burst groups messages that were read together, so that one slow operation, such as a
// write to disk, serves the whole group.
package burst

import "sync"

// MaxMessages is the maximum number of messages in a burst. If one burst could contain all of a
// client's requests in flight, the client, the proxy and the server would work one after another
// instead of concurrently.
const MaxMessages = 32

// MinInFlight is a number of calls to a server. If at least this many are in flight, a goroutine
// waits briefly for more calls, to handle them together.
const MinInFlight = 5

// A Reading divides the messages from one source into bursts. It calls Begin and End at the
// beginning and the end of each burst. It is not safe for concurrent use.
type Reading struct {
	Begin, End func()

	left int // number of messages that can still join the burst; 0 outside a burst
}

// Before must be called before each message is handled. more reports whether another message can be
// read without blocking. If so, Before begins a burst, unless one has already begun.
func (r *Reading) Before(more bool) {
	if r.left == 0 && more {
		r.left = MaxMessages
		r.Begin()
	}
}

// After must be called after each message has been handled. more reports whether another message
// can be read without blocking. After ends the burst if more is false or the burst is full.
func (r *Reading) After(more bool) {
	switch {
	case r.left == 0: // the message is outside a burst
	case r.left > 1 && more:
		r.left--
	default:
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

// A Step is work that a [Burst] can postpone. Continue does the work, and may block.
type Step interface{ Continue() }

// A Burst holds back steps while more messages can be read, and then runs them in order. The steps
// can thus share one slow operation, such as a write to disk. The zero value is ready to use. A
// Burst is safe for concurrent use. A nil Burst holds nothing back.
type Burst struct {
	mu     sync.Mutex
	active bool // whether a burst has begun but not ended
	steps  []Step
}

// Begin begins a burst.
func (b *Burst) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active = true
}

// Add holds back a step. Outside a burst, it returns false, and the caller must run the step
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

// Flush runs the held-back steps without ending the burst. To keep messages in order, call Flush
// before handling a message that does not go through Add.
func (b *Burst) Flush() { b.run(true) }

// End ends the burst and runs the held-back steps.
func (b *Burst) End() { b.run(false) }

// run runs the held-back steps. If active is false, it also ends the burst.
func (b *Burst) run(active bool) {
	b.mu.Lock()
	steps := b.steps
	b.steps, b.active = nil, b.active && active
	b.mu.Unlock()
	for _, s := range steps {
		s.Continue()
	}
}
