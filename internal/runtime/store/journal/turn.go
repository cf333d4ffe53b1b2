package journal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// lease is for how long a process may keep the turn while another waits, and how often it looks.
const lease = 10 * time.Millisecond

// A turnstile lets one process after the other have the turn: only the one that has it appends to
// the log. Whoever wants it is the next first, which one process is at a time, so that a process
// that has just had it cannot take it again while another waits. The turn is kept while no other
// process waits: then a step costs no lock.
//
// It is used by one goroutine at a time.
type turnstile struct {
	path     string
	patience time.Duration // how long a turn is waited for

	held  func()      // ends the turn; nil: this process does not have it
	asked time.Time   // when it was last looked whether another process waits
	quiet bool        // nothing was appended since
	known time.Time   // when the image was found to be at the end of the log; zero: it may not be
	leads atomic.Bool // this process has the turn, and its image is at the end of the log
	files locks
	left  chan struct{} // closed when the goroutine has ended that was last given up; nil: none was
}

// errNoTurn is the error of a turn that did not come in time.
var errNoTurn = errors.New("another process has the log of the state locked and does not give it up; it may be stopped: resume it, or end it")

// take returns once this process has the turn.
func (t *turnstile) take(ctx context.Context) error {
	if t.held != nil {
		return nil
	}
	done, err := t.enter(ctx)
	if err != nil {
		return fmt.Errorf("waiting for a turn: %w", err)
	}
	t.held, t.asked = done, time.Now()
	return nil
}

// found notes that the image is at the end of the log.
func (t *turnstile) found(now time.Time) {
	t.known = now
	t.leads.Store(true)
}

// lost notes that the image may not be at the end of the log.
func (t *turnstile) lost() {
	t.known = time.Time{}
	t.leads.Store(false)
}

// give gives the turn up.
func (t *turnstile) give() {
	if t.held != nil {
		t.lost()
		t.held()
		t.held = nil
	}
}

// rest gives the turn up if another process waits for it, or nothing was appended since the last
// time. It looks once in a lease.
func (t *turnstile) rest(now time.Time) {
	if t.held == nil || now.Sub(t.asked) < lease {
		return
	}
	if t.quiet || t.files.lost() || t.waited() {
		t.give()
		return
	}
	t.asked, t.quiet = now, true
}

// close gives up the turn and the files.
func (t *turnstile) close() {
	t.give()
	t.files.close()
}

// tryTake takes the turn if no process has it or waits for it, and reports whether this one has it.
func (t *turnstile) tryTake() bool {
	if t.held == nil && t.files.take(t.path) {
		t.held, t.asked = t.files.give, time.Now()
	}
	return t.held != nil
}

func (t *turnstile) enter(ctx context.Context) (done func(), err error) {
	if t.files.take(t.path) {
		return t.files.give, nil
	}
	if t.left != nil {
		select {
		case <-t.left:
			t.left = nil
		default:
			return nil, errNoTurn // it still waits for the same turn
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

// waited reports whether another process waits for the turn.
func (t *turnstile) waited() bool {
	next := t.lock("-next")
	ok, err := next.TryLock()
	_ = next.Close()
	return err == nil && !ok
}

func (t *turnstile) lock(suffix string) *flock.Flock {
	return flock.New(t.path+suffix, flock.SetPermissions(0o600))
}

// wait blocks in a goroutine of its own: only a call that cannot be given up is served in turn.
func (t *turnstile) wait(ctx context.Context, next, turn *flock.Flock) (done func(), err error) {
	got, gone, left := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		err := next.Lock()
		if err == nil {
			err = turn.Lock()
			_ = next.Close()
		}
		select {
		case got <- err:
		case <-gone:
			_ = turn.Close()
		}
	}()
	late := time.NewTimer(t.patience)
	defer late.Stop()
	select {
	case err := <-got:
		return func() { _ = turn.Close() }, err
	case <-late.C:
		err = errNoTurn
	case <-ctx.Done():
		err = ctx.Err()
	}
	close(gone)
	t.left = left
	return nil, err
}
