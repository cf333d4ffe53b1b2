package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// resume makes the log go on from the end of the file. Mostly that is where it
// left off; otherwise another process has written, a write was cut short, or
// somebody has changed the file.
func (l *Log) resume() error {
	if !l.regular {
		return nil
	}
	info, err := l.file.Stat()
	switch {
	case err != nil:
		return err
	case removed(info):
		return errors.New("the file was removed")
	case info.Size() == l.size:
		return nil
	}
	return l.last(info.Size())
}

// last finds the last whole line and cuts off what stands behind it.
func (l *Log) last(size int64) error {
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
	seq, err := number(tail[:end])
	if err != nil {
		return err
	}
	// Numbers never go back, so that lines which somebody has removed while
	// the log was open are missed.
	l.seq = max(l.seq, seq)
	l.size = size - int64(len(tail)-end)
	return nil
}

// number is the number of the last of some lines, 0 if there is none.
func number(lines []byte) (uint64, error) {
	if len(lines) == 0 {
		return 0, nil
	}
	lines = lines[:len(lines)-1]
	var record struct {
		Seq uint64 `json:"seq"`
	}
	err := json.Unmarshal(lines[bytes.LastIndexByte(lines, '\n')+1:], &record)
	if err != nil || record.Seq == 0 {
		return 0, errors.New("its last line is no audit record")
	}
	return record.Seq, nil
}

// tail is the end of the file, from far enough back to hold the last whole
// line and what may stand behind it.
func (l *Log) tail(size int64) ([]byte, error) {
	for length := int64(64 << 10); ; length *= 4 {
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
