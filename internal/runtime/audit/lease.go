package audit

import (
	"cmp"
	"os"
	"time"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// Parameters of leases. A lease starts after more than leaseFrom appends within leaseTime, and
// lasts for leaseTime.
const (
	leaseTime = 10 * time.Millisecond
	leaseFrom = 8
	leaseWait = time.Second // pause after a lease could not be started, or its lines could not be moved to the log
)

// A lease is a period during which a busy process keeps the log locked and appends only to a
// [pendingFile], without system calls. It cannot start while another process has the log open. When
// the lease ends, the lines are moved to the log in one write. After a crash, the next process that
// locks the log moves them.
type lease struct {
	held  bool
	lines []byte // lines not yet moved to the log
	from  Place  // end of the log when the lease started
	timer *time.Timer
	ended func()    // called by the timer at the end of the lease
	never time.Time // earliest time of the next lease; set if other processes have the log open or if the pending file cannot be used

	since         time.Time // start of the current counting period
	count, before int       // number of appends in the current and the previous period
}

// busy counts an append and reports whether appends are frequent enough for a lease.
func (l *lease) busy(now time.Time) bool {
	if past := now.Sub(l.since); past < 0 || past > leaseTime {
		l.since, l.count, l.before = now, 0, l.count
		if past < 0 || past > 2*leaseTime {
			l.before = 0
		}
	}
	l.count++
	return max(l.count, l.before) > leaseFrom
}

// appendPending appends the records to the pending file as lines. It returns false if they must be
// written to the log instead. It must be called with the file lock held.
func (l *logFile) appendPending(records [][]byte) bool {
	used := len(l.lease.lines)
	end := l.last
	lines := end.append(l.lease.lines, records...)
	size := l.size + int64(len(lines))
	if l.rotation.Size > 0 && size >= max(l.rotation.Size, l.retry) || !l.pending.keep(used, lines[used:]) {
		return false
	}
	l.lease.lines = lines
	l.first = cmp.Or(l.first, l.last.Seq+1)
	l.last = end
	return true
}

// startLease starts a lease with the given records. It returns false if they must be written to the
// log instead.
func (l *logFile) startLease(records [][]byte) bool {
	if l.head.file == nil || l.lease.since.Before(l.lease.never) {
		return false
	}
	if !alone(l.head.file) || !l.ensurePending() {
		l.lease.never = l.lease.since.Add(leaseWait)
		return false
	}
	if !l.appendPending(records) {
		return false
	}
	l.lease.held, l.lease.from = true, l.written
	if l.lease.timer == nil {
		l.lease.timer = time.AfterFunc(leaseTime, l.lease.ended)
	} else {
		l.lease.timer.Reset(leaseTime)
	}
	return true
}

// ensurePending opens the pending file unless it is open, and reports whether it can be used. It
// returns false on a network file system, where mapped memory is not shared between machines.
func (l *logFile) ensurePending() bool {
	if !quickfile.Local(l.head.file) {
		return false
	}
	if l.pending != nil && l.pending.lost() {
		l.pending.close()
		l.pending = nil
	}
	if l.pending == nil {
		l.pending, _ = openPendingFile(l.path) // if the file cannot be opened, lines are written to the log instead
	}
	return l.pending != nil
}

// closeLease ends the lease because the log is being closed, and removes the pending file unless
// another process uses it.
func (l *logFile) closeLease() error {
	if l.lease.timer != nil {
		l.lease.timer.Stop()
	}
	err := l.endLease()
	if l.pending == nil {
		return err
	}
	if err == nil {
		err = l.withLock(func() error {
			if l.head.file != nil && alone(l.head.file) {
				return os.Remove(l.path + PendingSuffix)
			}
			return nil
		})
	}
	l.pending.close()
	l.pending = nil
	return err
}

// endLease ends the lease and moves its lines to the log. If that fails, the lines stay in the
// pending file and are moved before any other line is written.
func (l *logFile) endLease() error {
	if l.lease.held {
		defer func() {
			l.lease.held = false
			unlock(l.file)
		}()
		return l.resume()
	}
	if len(l.lease.lines) == 0 {
		return nil
	}
	return l.withLock(l.resume)
}
