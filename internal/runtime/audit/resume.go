package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// open opens the log file and the files that accompany it, and reads their state.
func (l *logFile) open() (err error) {
	if l.file, err = open(l.path); err != nil {
		return err
	}
	if l.regular, err = inspect(l.file); err != nil || !l.regular {
		return err
	}
	l.quick = quickfile.Of(l.file) // remains valid after a rotation, because all files of the log are in the same directory
	if l.head, err = openHead(l.path); err != nil {
		return err
	}
	l.size = -1 // an impossible size, so that resume reads the end of the file
	return l.withLock(l.join)
}

// join registers this process as a user of the log and takes over the state that other processes
// have left. It must be called with the file lock held.
func (l *logFile) join() (err error) {
	if l.head.file != nil {
		if err := share(l.head.file); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(l.path + PendingSuffix); err == nil && info.Size() >= pendingEnd {
		if l.pending, err = openPendingFile(l.path); err != nil {
			return err
		}
	}
	return l.resume()
}

// append appends the records to the log file, one line each. The caller sets busy to true if this
// process appends often. append may then start a [lease]: the lines go to the memory-mapped pending
// file, and are moved to the log when the lease ends. append must be called with the file lock
// held.
func (l *logFile) append(records [][]byte, busy bool) error {
	if err := l.resume(); err != nil {
		return err
	}
	if l.full() {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if busy && l.startLease(records) {
		return nil
	}
	end := l.last
	l.buf = end.append(l.buf[:0], records...)
	return l.write(l.buf, end)
}

// resume reads the end of the file if the file's size has changed: another process has written to
// it, a write was interrupted, or someone edited it. If the last line marks the file as closed,
// resume switches to the next file. It then moves any pending lines to the log. It returns an error
// if the file was removed.
func (l *logFile) resume() error {
	if !l.regular {
		return nil
	}
	size, removed, err := l.quick.State(l.file)
	switch {
	case err != nil:
		return err
	case removed:
		return errors.New("the file was removed; restart petrigate to begin a new one")
	case size != l.size:
		if err := l.readEnd(size); err != nil {
			return err
		}
	}
	if l.closed {
		if err := l.switchFile(); err != nil {
			return err
		}
	}
	return l.movePending()
}

// movePending moves the lines in the pending file to the log. The caller must hold the file lock
// and have read the end of the file.
func (l *logFile) movePending() error {
	if l.pending == nil {
		return nil
	}
	rest, end := l.lease.lines, l.last
	used, known := l.pending.used()
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
	l.pending.clear()
	return nil
}

// reconcile returns the pending lines that the log still lacks, and the end of the log after these
// lines are appended. It is needed if another process has written or moved pending lines, or if the
// log was changed.
func (l *logFile) reconcile(used int) (rest []byte, end Place) {
	lines, ok := l.pending.lines(used)
	if !ok {
		lines = l.lease.lines
	}
	rest, end, junk := missingLines(lines, l.written)
	if junk > 0 {
		l.cut = fmt.Sprintf("the last %d bytes of its reserved space", junk)
	}
	return rest, end
}

// missingLines returns the pending lines that are missing from a log with the given end, and the
// end of the log after these lines are appended. If the log already has other lines with the same
// numbers, the returned lines get new numbers and hashes. Invalid data at the end of the pending
// lines is left out; the last result is its size.
func missingLines(lines []byte, at Place) (rest []byte, end Place, junk int) {
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
