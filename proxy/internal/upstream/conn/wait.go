package conn

import (
	"context"
	"sync"
	"time"
)

// Delays between attempts to open a connection or a stream.
const (
	FirstPause = 250 * time.Millisecond
	LastPause  = 30 * time.Second
	StableAge  = 30 * time.Second // a connection that lived this long resets the delay
)

// Sleep waits for d. It returns false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Poke sends a value to a channel with a buffer of one, unless the buffer is full.
func Poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// goroutines counts the goroutines that outlive a connection, so that Close can wait for them.
type goroutines struct {
	mu    sync.Mutex
	ended bool // no more goroutines can begin
	group sync.WaitGroup
}

// Begin counts a goroutine, which must call Done. It reports false after End.
func (w *goroutines) Begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.group.Add(1)
	}
	return !w.ended
}

func (w *goroutines) Done() { w.group.Done() }

// Go runs f on a new goroutine. It reports false after End.
func (w *goroutines) Go(f func()) bool {
	if !w.Begin() {
		return false
	}
	go func() {
		defer w.Done()
		f()
	}()
	return true
}

// End waits for all goroutines. No goroutine can begin after it.
func (w *goroutines) End() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.group.Wait()
}
