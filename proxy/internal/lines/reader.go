package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is in the place of a line that is longer than the limit. Those
// behind it can be read.
var ErrTooLong = errors.New("the message is longer than this proxy takes")

// A Reader reads the lines of a client.
type Reader struct {
	in    *bufio.Reader
	limit int
}

// NewReader makes a reader of lines of up to limit bytes, without their ends.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{bufio.NewReaderSize(in, 64<<10), limit}
}

// Next reads up to the next LF and gives a line of its own memory, without its
// end. What is longer than the limit is skipped to its end.
func (r *Reader) Next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > r.limit+2 {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && len(line) == 0 && !tooLong:
			return nil, err
		case tooLong:
			return nil, ErrTooLong
		}
		return bytes.TrimRight(fit(line), "\r\n"), nil
	}
}

// fit returns a line without much memory that it does not need: a call may keep it for long.
func fit(line []byte) []byte {
	if len(line) > 64<<10 && cap(line)-len(line) > len(line)/8 {
		return bytes.Clone(line)
	}
	return line
}

// More reports whether a whole line can be read without waiting.
func (r *Reader) More() bool {
	buffered, err := r.in.Peek(r.in.Buffered())
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}
