package audit

import (
	"cmp"
	"os"
	"time"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// Lease parameters. A lease starts after more than leaseFrom appends within the time leaseTime.
const (
	leaseTime = 10 * time.Millisecond
	leaseFrom = 8
	leaseWait = time.Second // delay after a failure to move lines or to start a lease
)

// A lease is a period during which a busy process keeps the log locked and appends only to a
// [pendingFile]. The process must be the only one that has the log open. At the end of the lease,
// one write moves the lines to the log, so that an append needs no system call. After a crash, the
// next process that locks the log moves the lines.
type lease struct {
	held  bool
	lines []byte // lines not yet moved to the log
	from  Place  // position of the log's end when the lease started
	timer *time.Timer
	ended func()    // called when the timer fires
	never time.Time // no lease starts before this time, because other processes have the log open or the pending file is unavailable

	since         time.Time // start of the current counting period
	count, before int       // numbers of appends in the current period and in the previous one
}

// busy counts an append, and reports whether appends are frequent enough for a lease.
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

// appendPending appends records as lines to the pending file. It returns false if they must be
// written to the log instead. The caller must hold the file lock.
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

// startLease starts a lease with the given records. It returns false if the records must be written
// to the log instead.
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

// ensurePending opens the pending file if necessary. It returns false on a network file system,
// because mapped memory is not shared with other machines.
func (l *logFile) ensurePending() bool {
	if !quickfile.Local(l.head.file) {
		return false
	}
	if l.pending != nil && l.pending.lost() {
		l.pending.close()
		l.pending = nil
	}
	if l.pending == nil {
		l.pending, _ = openPendingFile(l.path) // after a failure, lines are written directly to the log
	}
	return l.pending != nil
}

// closeLease ends the lease permanently, and removes the pending file if no other process uses it.
func (l *logFile) closeLease() error {
	if l.lease.timer != nil {
		l.lease.timer.Stop()
	}
	err := l.endLease()
	if l.pending == nil {
		return err
	}
	if err == nil {
		err = l.locked(func() error {
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

// endLease ends the lease and moves its lines to the log. If moving them fails, the lines remain in
// the pending file and are moved before any other line is written.
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
	return l.locked(l.resume)
}
