// Package burst puts together what comes of messages that are at hand at the same time.
package burst

import "sync"

// Most is how many messages a burst has at the most. If all that a client has in flight were
// one burst, then client, proxy and server would take turns, where they can work at the same
// time.
const Most = 32

// Several calls in flight make it likely that others are about to follow, for which it is
// worth to wait a moment.
const Several = 5

// A Reading tells where bursts begin and end among the messages that one reader takes. It is
// not safe for concurrent use.
type Reading struct {
	Begin, End func()

	left int // messages that the burst may still have; 0: none is under way
}

// Before is called before each message is taken; more says that another is at hand.
func (r *Reading) Before(more bool) {
	if r.left == 0 && more {
		r.left = Most
		r.Begin()
	}
}

// After is called behind each message that was taken.
func (r *Reading) After(more bool) {
	if r.left > 1 && more {
		r.left--
	} else {
		r.Stop()
	}
}

// Stop ends the burst that is under way, if there is one.
func (r *Reading) Stop() {
	if r.left > 0 {
		r.left = 0
		r.End()
	}
}

// A Step is the rest of the work on one message, which may have to wait first.
type Step interface{ GoOn() }

// A Burst holds steps back while more messages are at hand, so that they wait for the same
// thing together, and then goes on with them in their order. The zero value holds none. It
// is safe for concurrent use.
type Burst struct {
	mu    sync.Mutex
	under bool // way
	steps []Step
}

// Begin says that more messages are at hand.
func (b *Burst) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under = true
}

// Add holds a step back. It reports false where no burst is under way: then the caller goes
// on with it at once.
func (b *Burst) Add(s Step) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.under {
		b.steps = append(b.steps, s)
	}
	return b.under
}

// Flush goes on with what is held back, before a message of another kind.
func (b *Burst) Flush() {
	for _, s := range b.take(true) {
		s.GoOn()
	}
}

// End goes on with what is held back: no more messages are at hand.
func (b *Burst) End() {
	for _, s := range b.take(false) {
		s.GoOn()
	}
}

// take returns what is held back.
func (b *Burst) take(stays bool) []Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	steps := b.steps
	b.steps = nil
	b.under = b.under && stays
	return steps
}
