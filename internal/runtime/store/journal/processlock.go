package journal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// lease is the maximum time that a process keeps the process lock while another process waits. The
// process also checks for waiting processes at this interval.
const lease = 10 * time.Millisecond

// processLock is the lock that a process must hold to append to the log. It consists of two lock
// files: a process first locks -next, then -turn, and then releases -next. Only one process can
// hold -next, so a process that has just released the lock cannot acquire it again while another
// process waits. A process keeps the lock while no other process waits, so most steps need no
// system call for locking.
//
// A processLock is not safe for concurrent use, except for the field current.
type processLock struct {
	path    string
	timeout time.Duration // maximum time to wait for the lock

	unlockFiles func()      // releases the lock; nil if this process does not hold it
	checked     time.Time   // time of the last check for other waiting processes
	idle        bool        // whether nothing has been appended since the last check
	verified    time.Time   // last time when this process is known to have applied all steps in the log; zero if it might have missed steps since
	current     atomic.Bool // whether this process holds the lock and has applied all steps in the log to its [image] of the state
	files       lockFiles
	abandoned   chan struct{} // closed when the goroutine left behind by a failed [processLock.wait] ends; nil if no goroutine was left behind
}

// errLockTimeout means that another process has not released the lock in time.
var errLockTimeout = errors.New("another process holds the lock of the state log; if it is suspended, resume it or stop it")

// lock acquires the lock, waiting while other processes hold it.
func (t *processLock) lock(ctx context.Context) error {
	if t.unlockFiles != nil {
		return nil
	}
	done, err := t.acquire(ctx)
	if err != nil {
		return fmt.Errorf("waiting for the lock: %w", err)
	}
	t.unlockFiles, t.checked = done, time.Now()
	return nil
}

// setCurrent records that at the given time this process had applied all steps in the log to its
// state.
func (t *processLock) setCurrent(now time.Time) {
	t.verified = now
	t.current.Store(true)
}

// setStale records that this process might not have applied all steps in the log to its state.
func (t *processLock) setStale() {
	t.verified = time.Time{}
	t.current.Store(false)
}

// unlock releases the lock if this process holds it.
func (t *processLock) unlock() {
	if t.unlockFiles != nil {
		t.setStale()
		t.unlockFiles()
		t.unlockFiles = nil
	}
}

// yield releases the lock if another process waits for it, if nothing was appended since the last
// check, or if the lock files were removed. It does nothing if the last check was less than a lease
// ago.
func (t *processLock) yield(now time.Time) {
	if t.unlockFiles == nil || now.Sub(t.checked) < lease {
		return
	}
	if t.idle || t.files.replaced() || t.contended() {
		t.unlock()
		return
	}
	t.checked, t.idle = now, true
}

// close releases the lock and closes the files.
func (t *processLock) close() {
	t.unlock()
	t.files.close()
}

// tryLock acquires the lock if no other process holds it or waits for it. It reports whether this
// process holds the lock afterwards.
func (t *processLock) tryLock() bool {
	if t.unlockFiles == nil && t.files.tryLock(t.path) {
		t.unlockFiles, t.checked = t.files.unlock, time.Now()
	}
	return t.unlockFiles != nil
}

func (t *processLock) acquire(ctx context.Context) (done func(), err error) {
	if t.files.tryLock(t.path) {
		return t.files.unlock, nil
	}
	if t.abandoned != nil {
		select {
		case <-t.abandoned:
			t.abandoned = nil
		default:
			return nil, errLockTimeout // a goroutine from an earlier attempt still waits for the lock
		}
	}
	next, turn := t.fileLock("-next"), t.fileLock("-turn")
	if ok, err := next.TryLock(); ok && err == nil {
		if ok, err = turn.TryLock(); ok && err == nil {
			_ = next.Close()
			return func() { _ = turn.Close() }, nil
		}
	}
	return t.wait(ctx, next, turn)
}

// contended reports whether another process waits for the lock.
func (t *processLock) contended() bool {
	next := t.fileLock("-next")
	ok, err := next.TryLock()
	_ = next.Close()
	return err == nil && !ok
}

func (t *processLock) fileLock(suffix string) *flock.Flock {
	return flock.New(t.path+suffix, flock.SetPermissions(0o600))
}

// wait acquires the lock with blocking calls, because the operating system serves them in the order
// of arrival. Such calls cannot be canceled, so wait makes them in a separate goroutine.
func (t *processLock) wait(ctx context.Context, next, turn *flock.Flock) (done func(), err error) {
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
	select {
	case err := <-got:
		return func() { _ = turn.Close() }, err
	case <-time.After(t.timeout):
		err = errLockTimeout
	case <-ctx.Done():
		err = ctx.Err()
	}
	close(gone)
	t.abandoned = left
	return nil, err
}
