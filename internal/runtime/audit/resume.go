package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// open opens the files and reads their state.
func (l *logFile) open() (err error) {
	if l.file, err = open(l.path); err != nil {
		return err
	}
	if l.regular, err = inspect(l.file); err != nil || !l.regular {
		return err
	}
	l.quick = quickfile.Of(l.file) // this result also holds for later files in the same directory
	if l.head, err = openHead(l.path); err != nil {
		return err
	}
	l.size = -1 // makes resume read the existing content
	return l.locked(l.join)
}

// join reads the state that other processes have left. The caller must hold the file lock.
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

// append appends records as lines, or starts a lease with them. The caller must hold the file lock.
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

// resume continues the log at the end of the file. If the end is not the expected one, another
// process has written to the file, a write was interrupted, or someone changed the file.
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

// movePending moves the pending file's lines to the log. The caller must hold the file lock and
// know the file's end.
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

// reconcile returns the pending lines that the log lacks. It is called if another process has left
// or moved lines, or if someone else changed the log.
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

// missingLines returns those of the given lines that are missing from a log whose last line is at
// the position at. It also returns the log's new end. If the log has other lines in their place,
// the hash links of the returned lines are computed again. Invalid data at the log's end is
// dropped; junk is the size of this data.
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
