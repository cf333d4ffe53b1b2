package process

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/petrigate/petrigate/internal/pipe"
)

// ErrTooLong says that a message exceeds Config.MaxMessage.
var ErrTooLong = errors.New("a message of the server is too long")

const (
	lineBuffer = 64 << 10
	bigLine    = 32 << 10 // from here on a line is handed over rather than copied
	maxExpect  = 4 << 20  // of the length that is expected of a line
)

// OneLine puts another white space in the place of line breaks. In JSON they are
// white space between tokens and nothing else, but where a line is a message
// they would end it. In a string of a message that was not checked a tab is as
// wrong as they are; a space would make it right, and another text.
func OneLine(b []byte, space byte) {
	for _, c := range []byte{'\n', '\r'} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = space
			rest = rest[i+1:]
		}
	}
}

// LineReader cuts a stream into lines of bounded length.
type LineReader struct {
	r   io.Reader
	max int

	buf        []byte
	spare      []byte // the buffer of usual size, while buf is a larger one
	expect     int    // length of the last line that was handed over
	start, end int    // of what was read and not yet returned
	seen       int    // no newline before here
	err        error
}

func NewLineReader(r io.Reader, max int) *LineReader {
	return &LineReader{r: r, max: max, buf: make([]byte, lineBuffer)}
}

// Next returns the next line without its ending. If kept, it belongs to the
// caller; else it is valid until the next call. A last line without an ending
// is not returned, since it may be incomplete.
func (l *LineReader) Next() (line []byte, kept bool, err error) {
	for {
		if i := bytes.IndexByte(l.buf[l.seen:l.end], '\n'); i >= 0 {
			line, kept = l.cut(l.seen + i)
			return line, kept, nil
		}
		l.seen = l.end
		if l.err != nil {
			return nil, false, l.err
		}
		if l.end-l.start > l.max {
			return nil, false, ErrTooLong
		}
		l.read()
	}
}

// More reports whether another whole line has been read already.
func (l *LineReader) More() bool {
	i := bytes.IndexByte(l.buf[l.seen:l.end], '\n')
	if i < 0 {
		l.seen = l.end
	}
	return i >= 0
}

// cut takes the line that ends at the newline at i.
func (l *LineReader) cut(i int) (line []byte, kept bool) {
	line = l.buf[l.start:i]
	l.start, l.seen = i+1, i+1
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) < bigLine {
		return line, false
	}
	l.expect = min(len(line), maxExpect)
	if len(line) < len(l.buf)/4 { // a call may keep it for long
		line = bytes.Clone(line)
	}
	l.replace(l.buf[l.start:l.end])
	return line[:len(line):len(line)], true
}

// replace begins another buffer with what is left of the one that was handed over.
func (l *LineReader) replace(rest []byte) {
	if size := max(lineBuffer, 2*len(rest)); len(l.spare) < size {
		l.spare = make([]byte, size)
	}
	l.buf, l.spare = l.spare, nil
	l.start, l.seen, l.end = 0, 0, copy(l.buf, rest)
}

// read makes room and reads once.
func (l *LineReader) read() {
	switch {
	case l.start == l.end:
		l.start, l.seen, l.end = 0, 0, 0
	case l.end == len(l.buf) && l.start > len(l.buf)/2:
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start, l.seen = 0, l.end
	case l.end == len(l.buf):
		l.grow()
	}
	var n int
	n, l.err = l.r.Read(l.buf[l.end:])
	l.end += n
}

// grow gets a larger buffer: one for a line as long as the last one, since servers repeat
// themselves, and each doubling would be cleared and copied anew.
func (l *LineReader) grow() {
	grown := make([]byte, max(2*len(l.buf), l.expect+bigLine))
	l.end = copy(grown, l.buf[l.start:l.end])
	if len(l.buf) == lineBuffer {
		l.spare = l.buf
	}
	l.buf, l.start, l.seen = grown, 0, l.end
}

// maxTail is more than a pipe holds.
const maxTail = 1 << 20

// A Tail is the output of a child, to the end. Where the time to read it is over,
// because the child has ended and somebody who fled may hold the other end open,
// it still gives what is in the pipe by then: however late we come to read, what
// the child said last is not lost.
type Tail struct {
	file *pipe.File
	late int // bytes that were read after the time
}

// NewTail returns the output of a child that f is the end of.
func NewTail(f *os.File) *Tail { return &Tail{file: pipe.New(f)} }

// Read reads what there is, and waits for more while there is time.
func (t *Tail) Read(b []byte) (int, error) {
	n, err := t.file.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) || t.late >= maxTail {
		return n, err
	}
	n, waits, failed := t.file.TryRead(b)
	if waits {
		return 0, err
	}
	t.late += n
	return n, failed
}
