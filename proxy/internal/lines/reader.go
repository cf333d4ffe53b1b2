package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong means that a line exceeds the limit. Reading can continue with the next line.
var ErrTooLong = errors.New("the message is longer than this proxy takes")

// A Reader reads lines from a client. It is not safe for concurrent use.
type Reader struct {
	in    *bufio.Reader
	limit int
}

// NewReader returns a reader for lines of up to limit bytes, not counting line endings.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{bufio.NewReaderSize(in, 64<<10), limit}
}

// Next returns the next line without its line ending. The line belongs to the caller. If a line is
// too long, Next skips it and returns [ErrTooLong].
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
		if len(line) > 64<<10 && cap(line)-len(line) > len(line)/8 {
			line = bytes.Clone(line) // a call may keep it for a long time, so it must not have much spare capacity
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

// More reports whether a complete line can be read without blocking.
func (r *Reader) More() bool {
	buffered, err := r.in.Peek(r.in.Buffered())
	return err == nil && bytes.IndexByte(buffered, '\n') >= 0
}
