package conn

import (
	"context"
	"sync"
	"time"
)

// The pauses between attempts to have a connection or a stream.
const (
	FirstPause = 250 * time.Millisecond
	LastPause  = 30 * time.Second
	StableAge  = 30 * time.Second // a connection that lived so long was a good one
)

// Sleep waits for d, or returns false when ctx ends before.
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

// Poke puts a value into a channel that has room for one.
func Poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// work counts goroutines that outlive a connection, for Close to wait for.
type work struct {
	mu    sync.Mutex
	ended bool // nothing may begin any more
	group sync.WaitGroup
}

// Begin counts a goroutine, unless it is too late for one. The goroutine calls Done.
func (w *work) Begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.group.Add(1)
	}
	return !w.ended
}

func (w *work) Done() { w.group.Done() }

// Go runs f on a goroutine, unless it is too late for one.
func (w *work) Go(f func()) bool {
	if !w.Begin() {
		return false
	}
	go func() {
		defer w.Done()
		f()
	}()
	return true
}

// End waits for all that has begun; nothing begins after it.
func (w *work) End() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.group.Wait()
}
