package pipe

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// A File is one end of a pipe. One goroutine may read while another writes.
type File struct {
	*os.File
	raw     syscall.RawConn // nil if the file may block; all operations then use os.File
	in, out transfer
}

// New returns a File for f. If f is in blocking mode, reads and writes work like those of f itself.
func New(f *os.File) *File {
	p := &File{File: f}
	if raw, err := f.SyscallConn(); err == nil && nonblocking(raw) {
		p.raw = raw
	}
	p.in.name, p.in.try = f.Name(), p.in.attempt
	p.out.name, p.out.try, p.out.write = f.Name(), p.out.attempt, true
	return p
}

// A transfer is a read or write operation. It is reused, so operations need not allocate a closure.
type transfer struct {
	name  string // name of the file, for errors
	write bool
	try   func(fd uintptr) (done bool) // one attempt to read or write

	b   []byte
	n   int
	err error
	now bool // whether to return at once if the operation would block
}

// attempt reads once, or writes until all data is written or an error occurs. It returns false if
// it must be called again when the file is ready.
func (t *transfer) attempt(fd uintptr) bool {
	for t.err = nil; t.n < len(t.b) && t.err == nil; {
		var n int
		n, t.err = once(fd, t.b[t.n:], t.write)
		if t.n += n; !t.write {
			break
		}
	}
	return t.now || t.err != syscall.EAGAIN
}

// run reads into b or writes b, using the given method of a raw connection. Its errors are [io.EOF]
// and [*os.PathError], like those of [os.File].
func (t *transfer) run(by func(func(fd uintptr) bool) error, b []byte, now bool) (int, error) {
	t.b, t.n, t.err, t.now = b, 0, nil, now
	err := by(t.try)
	t.b = nil
	switch {
	case err == nil:
		err = t.err
	case !errors.Is(err, os.ErrDeadlineExceeded):
		err = os.ErrClosed
	}
	switch {
	case err == nil && t.n == 0 && !t.write:
		return 0, io.EOF
	case err == nil:
		return t.n, nil
	}
	op := "read"
	if t.write {
		op = "write"
	}
	return t.n, &os.PathError{Op: op, Path: t.name, Err: err}
}

// Read implements [io.Reader].
func (p *File) Read(b []byte) (int, error) {
	if p.raw == nil || len(b) == 0 {
		return p.File.Read(b)
	}
	return p.in.run(p.raw.Read, b, false)
}

// TryRead reads the available data without waiting, ignoring the read deadline. The second result
// is true if no data is available yet. For a file in blocking mode, TryRead reads nothing and
// always returns true.
func (p *File) TryRead(b []byte) (n int, waits bool, err error) {
	if p.raw == nil {
		return 0, true, nil
	}
	n, err = p.in.run(p.control, b, true)
	if errors.Is(err, syscall.EAGAIN) {
		return 0, true, nil
	}
	return n, false, err
}

// control calls f once with the file descriptor, even if a deadline has passed.
func (p *File) control(f func(fd uintptr) bool) error {
	return p.raw.Control(func(fd uintptr) { f(fd) })
}

// Write implements [io.Writer].
func (p *File) Write(b []byte) (int, error) {
	if p.raw == nil {
		return p.File.Write(b)
	}
	return p.out.run(p.raw.Write, b, false)
}

// TryWrite writes as much as the pipe accepts without waiting. If the file may block, it writes
// nothing.
func (p *File) TryWrite(b []byte) (int, error) {
	if p.raw == nil {
		return 0, nil
	}
	n, err := p.out.run(p.raw.Write, b, true)
	if errors.Is(err, syscall.EAGAIN) {
		err = nil
	}
	return n, err
}
