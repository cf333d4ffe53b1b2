package store_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// closing is a database that reports when it is closed.
type closing struct {
	backend.Backend
	closed bool
}

func (c *closing) Ready(context.Context) error { return nil }

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestLateSilent: a database that does not answer at the start delays the start until its timeout,
// and later delays no caller for more than half a second. Only one attempt at a time is in progress.
func TestLateSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hangs = 30 * time.Second
		var attempts atomic.Int32
		var answers atomic.Bool
		db := &closing{}
		l := store.NewLateBackend(func(context.Context) (backend.Backend, error) {
			attempts.Add(1)
			if !answers.Load() {
				time.Sleep(hangs) //nolint:forbidigo // the clock of synctest
				return nil, context.DeadlineExceeded
			}
			return db, nil
		}, slog.New(slog.DiscardHandler))
		waits := func(want time.Duration, f func() error) {
			t.Helper()
			began := time.Now()
			if err := f(); !errors.Is(err, store.ErrLate) {
				t.Errorf("%v, want %v", err, store.ErrLate)
			}
			if took := time.Since(began); took != want {
				t.Errorf("it took %v, want %v", took, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		waits(10*time.Second, func() error { return l.Try(ctx) })
		for range 3 {
			waits(500*time.Millisecond, func() error { return l.Ready(context.Background()) })
		}
		waits(500*time.Millisecond, func() error { return l.Commit(t.Context(), nil) })
		if n := attempts.Load(); n != 1 {
			t.Errorf("%d attempts, want 1", n)
		}
		if l.Writer() != "" || l.Changes() != nil || !l.Since().IsZero() {
			t.Error("it is open")
		}
		time.Sleep(hangs) //nolint:forbidigo // the clock of synctest
		answers.Store(true)
		if err := l.Ready(t.Context()); err != nil || attempts.Load() != 2 {
			t.Errorf("%v after %d attempts", err, attempts.Load())
		}
	})
}

// TestLateUnusable: an unusable database is an error at the start. Later it counts as a database
// that is unreachable.
func TestLateUnusable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := backend.Unusable(errors.New("no"))
		l := store.NewLateBackend(func(context.Context) (backend.Backend, error) { return nil, next }, slog.New(slog.DiscardHandler))
		if err := l.Try(t.Context()); !errors.Is(err, backend.ErrUnusable) || errors.Is(err, store.ErrLate) {
			t.Error(err)
		}
		next = errors.New("away")
		if err := l.Try(t.Context()); !errors.Is(err, store.ErrLate) || !errors.Is(err, next) {
			t.Error(err)
		}
		next = backend.Unusable(errors.New("no"))
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of synctest
		if err := l.Try(t.Context()); !errors.Is(err, store.ErrLate) {
			t.Error(err)
		}
	})
}

// TestLateClosed: a database that answers after the end of the process is closed.
func TestLateClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, answers := &closing{}, make(chan struct{})
		l := store.NewLateBackend(func(context.Context) (backend.Backend, error) {
			<-answers
			return db, nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = l.Try(ctx) }()
		synctest.Wait()
		cancel()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		close(answers)
		synctest.Wait()
		if err := l.Ready(t.Context()); !db.closed || !errors.Is(err, store.ErrLate) {
			t.Errorf("closed: %t, %v", db.closed, err)
		}
	})
}
