package process

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/petrigate/petrigate/internal/pipe"
)

// ErrTooLong means that a message exceeds Config.MaxMessage.
var ErrTooLong = errors.New("a message from the server is too long")

const (
	lineBuffer = 64 << 10
	bigLine    = 32 << 10 // minimum length of a line that is returned without copying it
	maxExpect  = 4 << 20  // the buffer is enlarged in advance for lines up to this length
)

// OneLine replaces each line break with the given byte. In valid JSON, line breaks only occur as
// white space between tokens, but on a line-based transport they would end the message. In a
// message that has not been checked, they may occur within a string. For such a message, use a tab,
// which is as invalid in a string as a line break; a space would silently make the string valid and
// change its text.
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

// A LineReader splits a stream into lines. The length of a line is limited.
type LineReader struct {
	r   io.Reader
	max int

	buf        []byte
	spare      []byte // buffer of the usual size, kept while buf is a larger buffer
	expect     int    // length of the line that was last handed over
	start, end int    // range of the bytes that were read but not yet returned
	seen       int    // no newline has been found before this offset
	err        error
}

func NewLineReader(r io.Reader, max int) *LineReader {
	return &LineReader{r: r, max: max, buf: make([]byte, lineBuffer)}
}

// Next returns the next line without its line ending. If kept is true, the line belongs to the
// caller; otherwise, it is valid until the next call. A last line without a line ending is not
// returned, because it may be incomplete.
func (l *LineReader) Next() (line []byte, kept bool, err error) {
	i := bytes.IndexByte(l.buf[l.seen:l.end], '\n')
	for ; i < 0; i = bytes.IndexByte(l.buf[l.seen:l.end], '\n') {
		l.seen = l.end
		if l.err != nil {
			return nil, false, l.err
		}
		if l.end-l.start > l.max {
			return nil, false, ErrTooLong
		}
		l.read()
	}
	i += l.seen
	line = l.buf[l.start:i]
	l.start, l.seen = i+1, i+1
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) < bigLine {
		return line, false, nil
	}
	l.expect = min(len(line), maxExpect)
	if len(line) < len(l.buf)/4 { // the line of a call may be kept for a long time
		line = bytes.Clone(line)
	}
	l.replace(l.buf[l.start:l.end])
	return line[:len(line):len(line)], true, nil
}

// More reports whether another complete line has already been read.
func (l *LineReader) More() bool {
	i := bytes.IndexByte(l.buf[l.seen:l.end], '\n')
	if i < 0 {
		l.seen = l.end
	}
	return i >= 0
}

// replace starts a new buffer. It copies the rest of the old buffer, which was handed over, into
// the new one.
func (l *LineReader) replace(rest []byte) {
	if size := max(lineBuffer, 2*len(rest)); len(l.spare) < size {
		l.spare = make([]byte, size)
	}
	l.buf, l.spare = l.spare, nil
	l.start, l.seen, l.end = 0, 0, copy(l.buf, rest)
}

// read makes room in the buffer and reads once.
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

// grow enlarges the buffer so that it can hold a line as long as the last large one. Servers tend
// to send lines of similar length. If the buffer were doubled repeatedly, it would be cleared and
// copied each time.
func (l *LineReader) grow() {
	grown := make([]byte, max(2*len(l.buf), l.expect+bigLine))
	l.end = copy(grown, l.buf[l.start:l.end])
	if len(l.buf) == lineBuffer {
		l.spare = l.buf
	}
	l.buf, l.start, l.seen = grown, 0, l.end
}

// maxTail is larger than the capacity of a pipe.
const maxTail = 1 << 20

// A Tail reads the output of a child to its end. After the child has ended, a process that has
// escaped from its tree may keep the pipe open, so reading has a deadline. Tail returns the bytes
// that are in the pipe at the deadline even if they are read later, so that the child's last output
// is not lost.
type Tail struct {
	file *pipe.File
	late int // number of bytes read after the deadline
}

// NewTail returns a Tail that reads from f.
func NewTail(f *os.File) *Tail { return &Tail{file: pipe.New(f)} }

// Read reads the available bytes. If no bytes are available, it waits for some until the deadline.
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
