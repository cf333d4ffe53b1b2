package lifetime

import (
	"log/slog"
	"testing"
	"time"
)

// TestUnrecorded checks that Wait waits for each unrecorded request, even for one after End, and
// that no request can begin once Wait was called.
func TestUnrecorded(t *testing.T) {
	l := New(time.Now, slog.New(slog.DiscardHandler))
	l.End()
	if l.Background(func() {}) {
		t.Error("work began after the end")
	}
	for range 2 {
		if !l.Unrecorded.Begin() {
			t.Fatal("the end cannot be held")
		}
	}
	waited := make(chan struct{})
	go func() {
		l.Wait()
		close(waited)
	}()
	for l.Unrecorded.Begin() { // until the goroutine has called Wait
		l.Unrecorded.Done()
	}
	l.Unrecorded.Done()
	select {
	case <-waited:
		t.Fatal("the end did not wait for the second")
	default:
	}
	l.Unrecorded.Done()
	<-waited
}
