// Package wait provides functions and types for waiting: for a duration, a channel, a signal, or a
// group of goroutines.
package wait

import (
	"context"
	"sync"
	"time"
)

// Sleep sleeps for d. It returns false if ctx is done first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	return For(ctx, t.C) && ctx.Err() == nil
}

// For waits until a value can be received from c, or until c is closed. It returns false if ctx is
// done first.
func For[T any](ctx context.Context, c <-chan T) bool {
	select {
	case <-c:
		return true
	case <-ctx.Done():
		return false
	}
}

// A Signal wakes a goroutine that receives from it. Signals sent before the goroutine receives are
// combined into one.
type Signal chan struct{}

// NewSignal returns a signal that has not been sent.
func NewSignal() Signal { return make(Signal, 1) }

// Send sends the signal. It never blocks.
func (s Signal) Send() {
	select {
	case s <- struct{}{}:
	default: // a signal is already pending
	}
}

// A Group waits for goroutines and other work, and can refuse further work. The zero value is ready
// to use. A Group is safe for concurrent use.
type Group struct {
	mu     sync.Mutex
	closed bool // whether the group refuses further work
	work   sync.WaitGroup
}

// Begin adds a piece of work to the group. The work must end with a call to Done. After Close,
// Begin returns false.
func (g *Group) Begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.work.Add(1)
	}
	return !g.closed
}

// Done ends a piece of work counted by Begin.
func (g *Group) Done() { g.work.Done() }

// Go runs f in a new goroutine. After Close, it returns false instead.
func (g *Group) Go(f func()) bool {
	if !g.Begin() {
		return false
	}
	go func() {
		defer g.Done()
		f()
	}()
	return true
}

// Close makes the group refuse further work.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// Wait waits until all work has ended. Close must be called first.
func (g *Group) Wait() { g.work.Wait() }
