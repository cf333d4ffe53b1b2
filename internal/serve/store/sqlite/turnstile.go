package sqlite

import (
	"context"
	"time"

	"github.com/gofrs/flock"
)

// A turnstile lets one process after the other write. Who wants to is the next, which it
// has to be before it has its turn; so a process that has just written cannot go again
// while another waits, as it could by the lock of SQLite, for which all others sleep.
//
// It is a courtesy. Where a turn does not come in time, its process was stopped or locks
// do not work here, and the lock of SQLite decides.
//
// It is used by one goroutine at a time.
type turnstile struct {
	path     string
	patience time.Duration
	locks    locks
	left     chan struct{} // closed when the goroutine has ended that was given up last; nil: none was
}

// take returns after a turn was given, with the function that ends it.
func (t *turnstile) take(ctx context.Context) (done func(), err error) {
	if t.locks.take(t.path) {
		return t.locks.give, nil
	}
	if t.left != nil {
		select {
		case <-t.left:
			t.left = nil
		default:
			return func() {}, nil // it still waits for the same turn
		}
	}
	next, turn := t.lock("-next"), t.lock("-turn")
	if ok, err := next.TryLock(); ok && err == nil {
		if ok, err = turn.TryLock(); ok && err == nil {
			_ = next.Close()
			return func() { _ = turn.Close() }, nil
		}
	}
	return t.wait(ctx, next, turn)
}

func (t *turnstile) lock(suffix string) *flock.Flock {
	return flock.New(t.path+suffix, flock.SetPermissions(0o600))
}

// wait blocks in a goroutine of its own: a lock can be waited for in turn only by a call
// that cannot be given up.
func (t *turnstile) wait(ctx context.Context, next, turn *flock.Flock) (done func(), err error) {
	got, gone, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		if next.Lock() == nil {
			_ = turn.Lock()
			_ = next.Close()
		}
		select {
		case got <- struct{}{}: // or not, if a lock failed: then the lock of SQLite decides
		case <-gone:
			_ = turn.Close()
		}
	}()
	late := time.NewTimer(t.patience)
	defer late.Stop()
	select {
	case <-got:
		return func() { _ = turn.Close() }, nil
	case <-late.C:
		close(gone)
		t.left = left
		return func() {}, nil
	case <-ctx.Done():
		close(gone)
		t.left = left
		return nil, ctx.Err()
	}
}
