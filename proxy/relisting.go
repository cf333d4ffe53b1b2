package proxy

import (
	"context"
	"sync"
)

// relistings say when the tools of an upstream are those that it has now: a
// server that has learned of what a client can do may have others.
type relistings struct {
	mu   sync.Mutex
	last chan struct{} // closed at the end of the listing that was wanted last; nil: there was none
}

// begin notes that a listing is wanted; its end has to be told.
func (r *relistings) begin() (end func()) {
	over := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = over
	return func() { close(over) }
}

// await waits for the listing that is wanted now, if there is one.
func (r *relistings) await(ctx context.Context) {
	r.mu.Lock()
	over := r.last
	r.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}
