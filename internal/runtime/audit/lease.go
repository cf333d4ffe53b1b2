package audit

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// Bounds of a lease. It begins where as many appends came in the time that one takes.
const (
	leaseTime = 10 * time.Millisecond
	leaseFrom = 8
	leaseWait = time.Second // after lines could not be moved, and after there could be no lease
)

// A lease is the time in which a process that is busy, and has the log for itself, keeps it
// locked and puts lines into a [room] only. When it ends one write moves them to the log. So
// a line costs no call of the system. After a crash whoever locks the log next moves them.
type lease struct {
	held  bool
	lines []byte // that are on their way to the log
	from  Place  // where it ended when it began
	timer *time.Timer
	never time.Time // before that: others have the log open too, or there is no room

	since         time.Time // of the time in which is counted
	count, before int       // appends in it, and in the one before
}

// busy counts an append, and reports whether they come so often that a lease is worth it.
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

// keep puts records into the room, as lines. It reports false where they are to be written to
// the log. It requires the lock of the file.
func (l *Log) keep(records [][]byte) bool {
	used := len(l.lease.lines)
	lines, end := l.lines(l.lease.lines, records)
	size := l.size + int64(len(lines))
	if l.rotation.Size > 0 && size >= max(l.rotation.Size, l.retry) || !l.room.keep(used, lines[used:]) {
		return false
	}
	l.lease.lines = lines
	if l.first == 0 {
		l.first = l.last.Seq + 1
	}
	l.last = end
	return true
}

// borrow begins a lease with records. It reports false where they are to be written to the
// log.
func (l *Log) borrow(records [][]byte) bool {
	if l.head.file == nil || l.lease.since.Before(l.lease.never) {
		return false
	}
	if !alone(l.head.file) || !l.furnish() {
		l.lease.never = l.lease.since.Add(leaseWait)
		return false
	}
	if !l.keep(records) {
		return false
	}
	l.lease.held, l.lease.from = true, l.written
	if l.lease.timer == nil {
		l.lease.timer = time.AfterFunc(leaseTime, l.expire)
	} else {
		l.lease.timer.Reset(leaseTime)
	}
	return true
}

// furnish sees to it that there is a room. On a file system that other machines share there is
// none: they have other memory of the same file.
func (l *Log) furnish() bool {
	if !quickfile.Local(l.head.file) {
		return false
	}
	if l.room != nil && l.room.lost() {
		l.room.close()
		l.room = nil
	}
	if l.room == nil {
		l.room, _ = openRoom(l.path) // without one, lines are written as they come
	}
	return l.room != nil
}

// leave ends the lease for good, and removes the room if it is nobody else's.
func (l *Log) leave() error {
	if l.lease.timer != nil {
		l.lease.timer.Stop()
	}
	err := l.settle()
	if l.room == nil {
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
	l.room.close()
	l.room = nil
	return err
}

// settle ends the lease and moves its lines to the log. After an error they stay where they
// are, and are moved before anything else is written.
func (l *Log) settle() error {
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

// move moves the lines of the room to the log. It requires the lock of the file, of which
// the end is known.
func (l *Log) move() error {
	if l.room == nil {
		return nil
	}
	rest, end := l.lease.lines, l.last
	used, known := l.room.used()
	if used == 0 && len(rest) == 0 {
		return nil
	}
	if known && used != len(rest) || l.lease.from != l.written {
		rest, end = l.reconcile(used)
	}
	if len(rest) > 0 {
		if err := l.write(rest, end); err != nil {
			return err
		}
	}
	l.lease.lines = l.lease.lines[:0]
	l.room.clear()
	return nil
}

// reconcile returns the lines of the room that the log does not have, where another process
// has left or moved them, or somebody has changed the log.
func (l *Log) reconcile(used int) (rest []byte, end Place) {
	lines, ok := l.room.lines(used)
	if !ok {
		lines = l.lease.lines
	}
	rest, end, junk := behind(lines, l.written)
	if junk > 0 {
		l.cut = fmt.Sprintf("what the last %d bytes of its room were", junk)
	}
	return rest, end
}

// behind returns those of some lines that a log which ends at the place does not have, and
// where it ends with them. Where it has others in their place they are linked anew. What is
// no line is left away: so many bytes at the end.
func behind(lines []byte, at Place) (rest []byte, end Place, junk int) {
	var all []Line
	from := 0
	for done := 0; done < len(lines); {
		text, _, whole := bytes.Cut(lines[done:], []byte{'\n'})
		l, err := ParseLine(text)
		if !whole || err != nil {
			junk, lines = len(lines)-done, lines[:done]
			break
		}
		done += len(text) + 1
		if all = append(all, l); l.place() == at {
			all, from = all[:0], done
		}
	}
	if len(all) == 0 {
		return nil, at, junk
	}
	if all[0].Seq > at.Seq {
		return lines[from:], all[len(all)-1].place(), junk
	}
	end = at
	for _, l := range all {
		rest = end.append(rest, l.Event)
	}
	return rest, end, junk
}
