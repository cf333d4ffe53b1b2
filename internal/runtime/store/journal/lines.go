package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// eachRecord calls the function for each committed record in a section of a segment, until the
// function returns false. steps must be true if the segment contains step lines. The records after
// the last step line are then skipped, because their step is not committed.
func eachRecord(r io.Reader, steps bool, each func(*backend.Record) (bool, error)) error {
	err := eachLine(r, steps, func(line []byte) error {
		r, err := readRecord(line)
		if err != nil {
			return err
		}
		more, err := each(&r)
		if err == nil && !more {
			err = io.EOF
		}
		return err
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// eachLine is like eachRecord, but passes the records' lines without decoding them, and stops only
// if the callback returns an error. A line is valid only until the callback returns.
func eachLine(r io.Reader, steps bool, each func(line []byte) error) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var waiting []byte
	var ends []int
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return nil // ignore an incomplete line at the end
		}
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte(recordStart)) {
			if !steps {
				if err := each(line); err != nil {
					return err
				}
				continue
			}
			waiting = append(waiting, line...)
			ends = append(ends, len(waiting))
			continue
		}
		from := 0
		for _, end := range ends {
			if err := each(waiting[from:end]); err != nil {
				return err
			}
			from = end
		}
		waiting, ends = waiting[:0], ends[:0]
	}
}

// readLine reads a line without its line break. The line is valid until the next call.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		line = bytes.Clone(line)
		more, err = in.ReadBytes('\n')
		line = append(line, more...)
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}
