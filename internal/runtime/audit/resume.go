package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// resume makes the log go on from the end of the file. Mostly that is where it
// left off; otherwise another process has written, a write was cut short, or
// somebody has changed the file.
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
		if err := l.follow(); err != nil {
			return err
		}
	}
	return l.move()
}

// readEnd finds the last whole line and cuts off what stands behind it.
func (l *Log) readEnd(size int64) error {
	tail, err := l.tail(size)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	if half := tail[end:]; len(half) > 0 {
		// Half a record never counted. Anything else is not ours to cut.
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
	// Numbers never go back, so that lines which somebody has removed while
	// the log was open are missed.
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

// missing says what the file lacks of what its head tells.
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

// lastLine is the last of some lines, without a number if there is none.
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

// firstLine reads the number of the first line; 0: there is none.
func (l *Log) firstLine() uint64 {
	var start [len(lineHead) + 20]byte
	n, _ := l.file.ReadAt(start[:], 0)
	digits, _ := bytes.CutPrefix(start[:n], []byte(lineHead))
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	seq, _ := strconv.ParseUint(string(digits[:max(0, end)]), 10, 64)
	return seq
}

// tail is the end of the file, from far enough back to hold the last whole
// line and what may stand behind it.
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
