package lifetime

import (
	"log/slog"
	"testing"
	"time"
)

// TestHold checks that Wait waits for each Hold, even for one after End, and that Hold fails once
// Wait was called.
func TestHold(t *testing.T) {
	l := New(time.Now, slog.New(slog.DiscardHandler))
	l.End()
	if l.Background(func() {}) {
		t.Error("work began after the end")
	}
	for range 2 {
		if !l.Hold() {
			t.Fatal("the end cannot be held")
		}
	}
	waited := make(chan struct{})
	go func() {
		l.Wait()
		close(waited)
	}()
	for l.Hold() { // until the goroutine has called Wait
		l.Release()
	}
	l.Release()
	select {
	case <-waited:
		t.Fatal("the end did not wait for the second")
	default:
	}
	l.Release()
	<-waited
}
