package pipe

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// A File is one end of a pipe. One goroutine may read while another one writes.
type File struct {
	*os.File
	raw     syscall.RawConn // nil if f may block, so that all operations must go through os.File
	in, out transfer
}

// New returns a File for f. If f is in blocking mode, reading and writing work as for f itself.
func New(f *os.File) *File {
	p := &File{File: f}
	if raw, err := f.SyscallConn(); err == nil && nonblocking(raw) {
		p.raw = raw
	}
	p.in.try, p.out.try = p.in.read, p.out.write
	return p
}

// A transfer is a read or write operation. It is reused, so that operations do not need to allocate
// a closure.
type transfer struct {
	b   []byte
	n   int
	err error
	try func(fd uintptr) (done bool)
	now bool // return instead of waiting
}

// read tries to read once. It reports whether the operation is complete.
func (t *transfer) read(fd uintptr) bool {
	t.n, t.err = readOnce(fd, t.b)
	return t.now || t.err != syscall.EAGAIN
}

// write writes until all of b is written or an error occurs. It reports whether the operation is
// complete.
func (t *transfer) write(fd uintptr) bool {
	for t.err = nil; t.n < len(t.b) && t.err == nil; {
		var n int
		n, t.err = writeOnce(fd, t.b[t.n:])
		t.n += n
	}
	return t.now || t.err != syscall.EAGAIN
}

// run transfers b using by, which is a method of a raw connection.
func (t *transfer) run(by func(func(fd uintptr) bool) error, b []byte, now bool) (int, error) {
	t.b, t.n, t.err, t.now = b, 0, nil, now
	err := by(t.try)
	t.b = nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return t.n, err
	case err != nil:
		return t.n, os.ErrClosed
	}
	return t.n, t.err
}

// Read implements [io.Reader].
func (p *File) Read(b []byte) (int, error) {
	if p.raw == nil || len(b) == 0 {
		return p.File.Read(b)
	}
	n, err := p.in.run(p.raw.Read, b, false)
	return n, p.readError(n, err)
}

// TryRead reads the available data. It does not wait, and ignores the read deadline. waits is true
// if no data is available yet, or if f may block.
func (p *File) TryRead(b []byte) (n int, waits bool, err error) {
	if p.raw == nil {
		return 0, true, nil
	}
	n, err = p.in.run(p.control, b, true)
	if err == syscall.EAGAIN {
		return 0, true, nil
	}
	return n, false, p.readError(n, err)
}

// control calls f once, ignoring deadlines.
func (p *File) control(f func(fd uintptr) bool) error {
	return p.raw.Control(func(fd uintptr) { f(fd) })
}

func (p *File) readError(n int, err error) error {
	if err == nil && n == 0 {
		return io.EOF
	}
	return p.pathError("read", err)
}

// Write implements [io.Writer].
func (p *File) Write(b []byte) (int, error) {
	if p.raw == nil {
		return p.File.Write(b)
	}
	n, err := p.out.run(p.raw.Write, b, false)
	return n, p.pathError("write", err)
}

// TryWrite writes as much as the pipe accepts without waiting. If f may block, it writes nothing.
func (p *File) TryWrite(b []byte) (int, error) {
	if p.raw == nil {
		return 0, nil
	}
	n, err := p.out.run(p.raw.Write, b, true)
	if err == syscall.EAGAIN {
		err = nil
	}
	return n, p.pathError("write", err)
}

// pathError wraps an error as [os.File] does.
func (p *File) pathError(op string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: p.Name(), Err: err}
}
