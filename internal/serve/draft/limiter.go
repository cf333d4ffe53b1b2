package draft

import (
	"context"
	"sync"
)

// A limiter allows each person one operation at a time, and limits the total number of concurrent
// operations.
type limiter struct {
	most int

	mu      sync.Mutex
	running map[string]bool // names of the people who have an operation in progress
	ended   chan struct{}   // closed when the next operation ends
}

func newLimiter(most int) *limiter {
	return &limiter{most: most, running: map[string]bool{}, ended: make(chan struct{})}
}

// acquire waits until the person may start an operation. The caller must call release when the
// operation has ended.
func (t *limiter) acquire(ctx context.Context, person string) (release func(), err error) {
	for {
		ended := t.start(person)
		if ended == nil {
			return func() { t.end(person) }, nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryAcquire acquires a slot without waiting. If none is free, it returns ErrBusy.
func (t *limiter) tryAcquire(context.Context) (release func(), err error) {
	if t.start("") != nil {
		return nil, ErrBusy
	}
	return func() { t.end("") }, nil
}

// start tries to start an operation of the given person. It returns nil if the operation has
// started. Otherwise, it returns a channel that is closed when the next operation ends, so that the
// caller can try again.
func (t *limiter) start(person string) (ended <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[person] || len(t.running) == t.most {
		return t.ended
	}
	t.running[person] = true
	return nil
}

func (t *limiter) end(person string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, person)
	close(t.ended)
	t.ended = make(chan struct{})
}
