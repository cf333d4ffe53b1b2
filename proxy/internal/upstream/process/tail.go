package process

import (
	"errors"
	"io"
	"os"
)

// maxTail is more than a pipe holds.
const maxTail = 1 << 20

// A Tail is the output of a child, to the end. Where the time to read it is over,
// because the child has ended and somebody who fled may hold the other end open,
// it still gives what is in the pipe by then: however late we come to read, what
// the child said last is not lost.
type Tail struct {
	File *os.File
	late int // bytes that were read after the time
}

// Read reads what there is, and waits for more while there is time.
func (t *Tail) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) || t.late >= maxTail {
		return n, err
	}
	raw, failed := t.File.SyscallConn()
	if failed != nil {
		return 0, err
	}
	waits := false
	if failed := raw.Control(func(fd uintptr) { n, waits = readOnce(fd, b) }); failed != nil || waits {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	t.late += n
	return n, nil
}
