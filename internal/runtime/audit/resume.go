package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// resume continues the log at the end of the file. If the end is not the expected one, another
// process has written, a write was interrupted, or the file was changed externally.
func (l *Log) resume() error {
	if !l.regular {
		return nil
	}
	size, removed, err := l.quick.State(l.file)
	switch {
	case err != nil:
		return err
	case removed:
		return errors.New("the file was removed; end petrigate and start it again to begin another one")
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

// readEnd finds the last whole line and cuts off a partial line after it.
func (l *Log) readEnd(size int64) error {
	tail, err := l.tail(size)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	if half := tail[end:]; len(half) > 0 {
		// A partial record never counted. Other data was not written by this program and is not
		// removed.
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
	// Numbers never decrease, so that lines removed while the log was open are detected.
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
	l.closed = closes(last.Event)
	return nil
}

// missing describes the records that the file lacks according to its head.
func missing(h, last Place) string {
	switch {
	case h.Seq > last.Seq && last.Seq == 0:
		return fmt.Sprintf("all its records up to number %d", h.Seq)
	case h.Seq > last.Seq:
		return fmt.Sprintf("the records from number %d to %d", last.Seq+1, h.Seq)
	case h.Seq == last.Seq && h.Hash != last.Hash:
		return fmt.Sprintf("the record number %d as it was written", h.Seq)
	}
	return ""
}

// lastLine returns the last of the lines, or the zero Line.
func lastLine(lines []byte) (Line, error) {
	if len(lines) == 0 {
		return Line{}, nil
	}
	lines = lines[:len(lines)-1]
	l, err := ParseLine(lines[bytes.LastIndexByte(lines, '\n')+1:])
	if err != nil {
		return Line{}, errors.New("its last line is no audit record")
	}
	return l, nil
}

// firstLine returns the number of the first line, or 0.
func (l *Log) firstLine() uint64 {
	var start [len(lineHead) + 20]byte
	n, _ := l.file.ReadAt(start[:], 0)
	digits, _ := bytes.CutPrefix(start[:n], []byte(lineHead))
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	seq, _ := strconv.ParseUint(string(digits[:max(0, end)]), 10, 64)
	return seq
}

// tail returns the end of the file. It contains at least the last whole line and the data after it.
func (l *Log) tail(size int64) ([]byte, error) {
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
