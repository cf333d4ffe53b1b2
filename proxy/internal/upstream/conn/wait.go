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
	StableAge  = 30 * time.Second // a connection must last this long for the delay to start again from the minimum
)

// Sleep sleeps for d. It returns false if ctx ends first.
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

// Poke sends a value to c, which must have a buffer of size one. If the buffer is full, it does
// nothing.
func Poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// A goroutines value counts goroutines that may outlive a connection, so that Close can wait for
// them.
type goroutines struct {
	mu    sync.Mutex
	ended bool // whether no more goroutines may start
	group sync.WaitGroup
}

// Begin counts a goroutine. The goroutine must call Done when it ends. After End, Begin returns
// false.
func (w *goroutines) Begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.group.Add(1)
	}
	return !w.ended
}

func (w *goroutines) Done() { w.group.Done() }

// Go runs f in a new goroutine. After End, it returns false instead.
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

// End waits for all goroutines. No goroutine can start afterwards.
func (w *goroutines) End() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.group.Wait()
}
