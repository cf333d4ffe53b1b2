package audit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// A logFile is the file of a [Log] and its state. It is guarded by Log.mu.
type logFile struct {
	path     string
	rotation Rotation
	regular  bool // whether the log is a regular file rather than a device, which cannot be read or truncated

	file        *os.File // nil once the log is closed
	quick       quickfile.File
	head        head
	pending     *pendingFile // receives the records during a lease; nil if it is not open
	lease       lease
	first       uint64 // number of the file's first line; 0 if the file is empty
	closed      bool   // whether the last line marks the file as closed
	last        Place  // position of the last line, even if it is still pending
	written     Place  // position of the last line written to the file
	size        int64  // size of the file up to the end of the last line written; unused for a device
	retry       int64  // minimum file size for the next attempt to rotate
	cut         string // describes the records missing at the end of the file; empty if none are missing
	buf         []byte // reused for the next write
	neededSpace int    // free disk space needed to write again, or 0 if no shortage is known; see [logFile.checkSpace]
}

// maxBuffer is the maximum capacity of a buffer that is kept for reuse.
const maxBuffer = 1 << 20

// write writes whole lines; end is the position of the last line. If it returns an error, the file
// is unchanged.
func (l *logFile) write(lines []byte, end Place) error {
	if err := l.checkSpace(len(lines)); err != nil {
		return err
	}
	n, err := l.quick.Write(l.file, lines)
	if err != nil {
		l.noteShortage(len(lines))
		if l.regular && n > 0 {
			// if Truncate fails too, the next call to resume finds the partial line
			_ = l.file.Truncate(l.size)
		}
		return err
	}
	l.first = cmp.Or(l.first, l.last.Seq+1)
	l.last, l.written, l.closed = end, end, false
	l.size += int64(n)
	l.head.write(end)
	if cap(l.buf) > maxBuffer {
		l.buf = nil
	}
	return nil
}

// withLock calls f with the file lock held. Afterward it releases the lock, unless a lease has
// begun. A file that is not regular is not locked. f may replace l.file with another file that it
// has locked.
func (l *logFile) withLock(f func() error) error {
	if !l.regular {
		return f()
	}
	if err := lock(l.file); err != nil {
		return fmt.Errorf("locking it: %w", err)
	}
	defer func() {
		if !l.lease.held {
			unlock(l.file)
		}
	}()
	return f()
}

// readEnd finds the last whole line and removes a partial line after it.
func (l *logFile) readEnd(size int64) error {
	tail, err := l.tail(size)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	if half := tail[end:]; len(half) > 0 {
		// A partial record was never part of the log and can be removed. Text that does not begin
		// like a record was not written by this program and must be kept.
		if half[0] != '{' {
			return errors.New("it does not end with an audit record")
		}
		if err := l.file.Truncate(size - int64(len(half))); err != nil {
			return err
		}
	}
	last, err := lastLine(tail[:end])
	if err != nil {
		return err
	}
	l.written = last.place()
	// If lines were removed from the file while the log was open, l.last keeps its higher record
	// number, so that the removal can be detected.
	if last.Seq > l.last.Seq {
		l.last = l.written
	}
	if h := l.head.read(); h.Seq >= l.last.Seq && h.Seq > 0 {
		if l.size < 0 {
			l.cut = missing(h, l.last)
		}
		l.last = h
	}
	l.size = size - int64(len(tail)-end)
	if l.first == 0 || l.size == 0 {
		l.first = l.firstLine()
	}
	l.closed = bytes.HasSuffix(last.Event, []byte(`,"event":"closed"}`))
	return nil
}

// missing describes the records that the file lacks, given the position in its head and the
// position of its last line. It returns "" if no records are missing.
func missing(h, last Place) string {
	switch {
	case h.Seq > last.Seq && last.Seq == 0:
		return fmt.Sprintf("all records up to record %d", h.Seq)
	case h.Seq > last.Seq:
		return fmt.Sprintf("records %d to %d", last.Seq+1, h.Seq)
	case h.Seq == last.Seq && h.Hash != last.Hash:
		return fmt.Sprintf("record %d as it was written", h.Seq)
	}
	return ""
}

// lastLine parses the last of the given lines. It returns the zero Line if there are no lines.
func lastLine(lines []byte) (Line, error) {
	if len(lines) == 0 {
		return Line{}, nil
	}
	lines = lines[:len(lines)-1]
	l, err := ParseLine(lines[bytes.LastIndexByte(lines, '\n')+1:])
	if err != nil {
		return Line{}, errors.New("its last line is not an audit record")
	}
	return l, nil
}

// firstLine returns the number of the file's first line, or 0 if the file has no lines.
func (l *logFile) firstLine() uint64 {
	var start [len(lineHead) + 20]byte
	n, _ := l.file.ReadAt(start[:], 0)
	digits, _ := bytes.CutPrefix(start[:n], []byte(lineHead))
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	seq, _ := strconv.ParseUint(string(digits[:max(0, end)]), 10, 64)
	return seq
}

// tail returns the last bytes of the file, which include the last whole line.
func (l *logFile) tail(size int64) ([]byte, error) {
	for length := int64(4 << 10); ; length *= 4 {
		from := max(0, size-length)
		tail := make([]byte, size-from)
		if _, err := l.file.ReadAt(tail, from); err != nil && err != io.EOF {
			return nil, err
		}
		if from == 0 || bytes.Count(tail, []byte("\n")) >= 2 {
			return tail, nil
		}
		if length > 3*maxRecord {
			return nil, errors.New("its last line is too long for an audit record")
		}
	}
}

// spaceTestSuffix is the suffix of the test file written by [logFile.checkSpace].
const spaceTestSuffix = ".trial"

// outcomeSpace is the number of bytes to reserve on the disk for a call's outcome.
const outcomeSpace = 4 << 10

// noteShortage records that n bytes did not fit on the disk, so that checkSpace can tell when there
// is room for them.
func (l *logFile) noteShortage(n int) {
	l.neededSpace = max(l.neededSpace, min(n, maxBuffer)+outcomeSpace)
}

// checkSpace is called before a write of n bytes. If an earlier write did not fit on the disk,
// checkSpace returns an error until l.neededSpace bytes are free. Without this check, small records
// could still be written although a decision would not fit. Writes of l.neededSpace bytes or more
// are not checked.
func (l *logFile) checkSpace(n int) error {
	if !l.regular || l.neededSpace <= n {
		return nil
	}
	if err := testSpace(l.file.Name()+spaceTestSuffix, l.neededSpace); err != nil {
		return err
	}
	l.neededSpace = 0
	return nil
}

// testSpace writes and removes a file of n bytes. It returns only errors that indicate a lack of
// disk space.
func testSpace(path string, n int) error {
	_ = os.Remove(path) // the file may have been left behind by a killed process
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.Write(make([]byte, n))
		_, _ = f.Close(), os.Remove(path)
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) {
			return err
		}
	}
	return nil
}
