package journal

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A gate blocks the flushes of a log.
type gate struct {
	backend *Backend
	arrived chan struct{} // receives a value whenever a flush begins
	result  chan error    // ends one blocked flush: nil lets it continue, an error makes it fail
}

// gated opens a state whose flushes of the log are blocked.
func gated(t *testing.T) (*Backend, *gate) {
	t.Helper()
	d := &tampered{}
	b := open(t, Options{Path: place(t), disk: d})
	g := &gate{backend: b, arrived: make(chan struct{}), result: make(chan error)}
	b.tamper(func(op, name string) error {
		if op != "sync" || !strings.HasSuffix(name, logSuffix) {
			return nil
		}
		g.arrived <- struct{}{}
		return <-g.result
	})
	return b, g
}

// open lets all later flushes pass immediately. No flush may be waiting.
func (g *gate) open() { g.backend.tamper(nil) }

// lasting commits a reservation that needs a flush, and returns the function that performs this
// flush.
func lasting(t *testing.T, b *Backend, session string) func() error {
	t.Helper()
	op := sample(session, 0)
	if err := b.Commit(t.Context(), []*backend.Op{op}); err != nil || op.Err != nil || op.Flush == nil {
		t.Fatal(err, op.Err, op.Flush == nil)
	}
	return op.Flush
}

// flushed runs each flush in a goroutine of its own, and returns channels with the results.
func flushed(all ...func() error) (results []chan error) {
	for _, flush := range all {
		c := make(chan error, 1)
		results = append(results, c)
		go func() { c <- flush() }()
	}
	return results
}

// TestAppendDuringFlush checks that an outcome can be committed while a flush runs, and that one
// flush serves all steps that were appended before it began.
func TestAppendDuringFlush(t *testing.T) {
	b, g := gated(t)
	first := flushed(lasting(t, b, "a"))
	<-g.arrived
	outcome := sample("b", 0)
	outcome.Reserve = false
	if err := b.Commit(t.Context(), []*backend.Op{outcome}); err != nil || outcome.Err != nil || outcome.Flush != nil {
		t.Fatal(err, outcome.Err, outcome.Flush == nil)
	}
	more := flushed(lasting(t, b, "c"), lasting(t, b, "d"), lasting(t, b, "e"))
	g.result <- nil
	if err := <-first[0]; err != nil {
		t.Error(err)
	}
	<-g.arrived // one flush for all three
	for _, c := range more {
		select {
		case err := <-c:
			t.Error("a step is said to be on the disk before the flush that brings it there has ended", err)
		default:
		}
	}
	g.result <- nil
	for _, c := range more {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
	g.open()
}

// TestFlushFailed checks that, after a failed flush, every unflushed reservation in the segment
// fails, no flush is retried, and the next step begins another segment.
func TestFlushFailed(t *testing.T) {
	b, g := gated(t)
	failed := flushed(lasting(t, b, "a"))
	<-g.arrived
	later := lasting(t, b, "b")
	g.result <- errTampered
	for _, c := range append(failed, flushed(later)...) {
		if err := <-c; !errors.Is(err, backend.ErrUnflushed) || !errors.Is(err, errTampered) {
			t.Error(err)
		}
	}
	if err := b.Ready(t.Context()); err != nil {
		t.Log(err)
	}
	g.open()
	if err := lasting(t, b, "c")(); err != nil || b.image.at.segment == 0 {
		t.Errorf("%v in the segment behind step %d", err, b.image.at.segment)
	}
	if err := later(); !errors.Is(err, errTampered) {
		t.Errorf("a step of the segment that has failed: %v", err)
	}
}

// TestFlushBehindSegment checks that a step is flushed even if its segment has been renamed, and
// that the file is closed when nothing needs it any longer.
func TestFlushBehindSegment(t *testing.T) {
	b, g := gated(t)
	first := lasting(t, b, "a")
	d := b.log.flusher
	b.segment = 1
	g.open()
	second := lasting(t, b, "b") // rotates the segment
	if b.log.flusher == d {
		t.Fatal("the segment was not put aside")
	}
	for _, flush := range []func() error{first, second, first} {
		if err := flush(); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.file.Stat(); d.refs != 0 || err == nil {
		t.Errorf("%d users, %v", d.refs, err)
	}
}

// TestManyFlushes checks that many steps can be appended and flushed concurrently.
func TestManyFlushes(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Path: place(t), segment: 100 << 10})
	var all sync.WaitGroup
	for _, name := range strings.Split("abcdefgh", "") {
		all.Go(func() {
			for n := range int64(50) {
				op := sample(name, n)
				if err := commit(t.Context(), b, op); err != nil || op.Flush == nil {
					t.Error(err)
					return
				}
				if n%10 == 9 {
					_ = b.fold()
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("some wait for ever")
	}
	if n := len(linked(t, b)); n != 400 {
		t.Errorf("%d records, want 400", n)
	}
}
