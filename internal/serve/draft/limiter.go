package draft

import (
	"context"
	"sync"
)

// A limiter allows each person one operation at a time, and limits the number of concurrent
// operations of all persons.
type limiter struct {
	all chan struct{} // contains one element for each operation in progress

	mu    sync.Mutex
	slots map[string]*slot
}

// A slot allows one person to run an operation. It exists while the person uses it or waits for it.
type slot struct {
	taken chan struct{} // contains an element while the slot is in use
	users int
}

func newLimiter(most int) *limiter {
	return &limiter{all: make(chan struct{}, most), slots: map[string]*slot{}}
}

// acquire waits for the person's own slot and then for one of the shared slots.
func (t *limiter) acquire(ctx context.Context, who string) (release func(), err error) {
	s := t.join(who)
	select {
	case s.taken <- struct{}{}:
	case <-ctx.Done():
		t.leave(who)
		return nil, ctx.Err()
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-s.taken
		t.leave(who)
		return nil, ctx.Err()
	}
	return func() {
		<-t.all
		<-s.taken
		t.leave(who)
	}, nil
}

func (t *limiter) join(who string) *slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slots[who]
	if s == nil {
		s = &slot{taken: make(chan struct{}, 1)}
		t.slots[who] = s
	}
	s.users++
	return s
}

func (t *limiter) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slots[who].users--; t.slots[who].users == 0 {
		delete(t.slots, who)
	}
}

// tryAcquire acquires a slot without waiting. If none is free, it returns ErrBusy.
func (t *limiter) tryAcquire(context.Context) (release func(), err error) {
	select {
	case t.all <- struct{}{}:
		return func() { <-t.all }, nil
	default:
		return nil, ErrBusy
	}
}
