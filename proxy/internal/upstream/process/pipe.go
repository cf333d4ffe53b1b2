package process

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/petrigate/petrigate/internal/pipe"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ErrClosed is the reason reported by a connection that the proxy itself has closed.
var ErrClosed = errors.New("the connection was closed")

// MaxPending is the maximum number of bytes queued for a child that does not read.
const MaxPending = 16 << 20

var errNotReading = errors.New("the server is not reading its input")

// maxBurst is the maximum number of bytes buffered while more messages are expected.
const maxBurst = 256 << 10

// keepBuffer is the maximum size of an empty buffer that is reused.
const keepBuffer = 1 << 20

// A Pipe writes messages to a child's standard input without making callers wait for the child. A
// caller writes as many queued bytes as the operating system's pipe accepts immediately. A
// background goroutine, the flusher, writes the rest. Only one goroutine writes at a time. The
// mutex mu guards the fields below it.
type Pipe struct {
	file   *pipe.File
	broken func(error) // called when writing has failed

	mu      sync.Mutex
	pending []byte // queued bytes that are not yet being written
	spare   []byte // empty buffer, used for messages added while pending is being written; may be nil
	busy    bool   // whether a caller or the flusher is writing
	corks   int    // number of callers holding back writes
	queued  int64  // total number of bytes of the messages added so far
	written int64  // number of bytes written so far; the child may have read them
	err     error  // why no more messages are accepted

	stuck chan []byte // carries the bytes that the flusher must write
	quit  chan struct{}
	done  chan struct{}
}

func NewPipe(file *os.File, broken func(error)) *Pipe {
	p := &Pipe{
		file: pipe.New(file), broken: broken,
		stuck: make(chan []byte, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go p.flush()
	return p
}

// Nowhere is the offset of a message that has not been added to a Pipe. [Pipe.Reached] returns
// false for it.
const Nowhere = math.MaxInt64

// Write queues a message, followed by a newline, and writes as many of the queued bytes as the pipe
// accepts. A background goroutine writes the rest. If another goroutine is already writing, or if
// [Pipe.Cork] holds back writes, Write only queues the message.
//
// The build function appends the message to its argument; size is the approximate length of the
// message. Write sets *position to the offset of the message, for use with [Pipe.Reached]. If
// several is true, Write lets other goroutines queue their messages first, so that one system call
// can write all of them.
//
// Write fails if the pipe is closed or broken. It also fails if too many bytes are queued because
// the child does not read.
func (p *Pipe) Write(position *int64, several bool, size int, build func([]byte) []byte) error {
	p.mu.Lock()
	if p.err != nil {
		defer p.mu.Unlock()
		return p.err
	}
	if len(p.pending) > 0 && len(p.pending)+size > MaxPending {
		defer p.mu.Unlock()
		return errNotReading
	}
	*position = p.queued
	before := len(p.pending)
	p.pending = build(p.pending)
	wire.OneLine(p.pending[before:], ' ')
	p.pending = append(p.pending, '\n')
	p.queued += int64(len(p.pending) - before)
	if p.busy || p.corks > 0 && len(p.pending) < maxBurst {
		p.mu.Unlock()
		return nil
	}
	p.busy = true
	if several {
		p.mu.Unlock()
		runtime.Gosched()
		p.mu.Lock()
	}
	p.drain() // drain also unlocks mu
	return nil
}

// Cork makes the Pipe hold back writes until Uncork is called. Callers use it before they add
// several messages.
func (p *Pipe) Cork() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.corks++
}

func (p *Pipe) Uncork() {
	p.mu.Lock()
	p.corks--
	if p.corks > 0 || p.busy || p.err != nil || len(p.pending) == 0 {
		p.mu.Unlock()
		return
	}
	p.busy = true
	p.drain() // drain also unlocks mu
}

// maxRounds is the maximum number of writes in one call to drain. The flusher writes the messages
// that are still queued afterwards.
const maxRounds = 4

// drain writes pending bytes without blocking. The caller must hold mu and must have set busy.
// drain unlocks mu.
func (p *Pipe) drain() {
	for range maxRounds {
		out := p.pending
		p.pending, p.spare = p.spare[:0], nil
		p.mu.Unlock()
		n, err := p.file.TryWrite(out)
		p.mu.Lock()
		p.written += int64(n)
		if err != nil {
			p.fail(err) // fail also unlocks mu
			return
		}
		if n < len(out) {
			p.mu.Unlock()
			p.stuck <- out[n:] // does not block: the channel is empty, because only one goroutine writes at a time
			return
		}
		if cap(out) <= keepBuffer {
			p.spare = out[:0]
		}
		if len(p.pending) == 0 {
			p.busy = false
			p.mu.Unlock()
			return
		}
	}
	p.mu.Unlock()
	p.stuck <- nil
}

// flush writes the bytes that callers could not write. It blocks until the child reads them or Shut
// is called.
func (p *Pipe) flush() {
	defer close(p.done)
	for {
		select {
		case out := <-p.stuck:
			n, err := p.file.Write(out)
			p.mu.Lock()
			p.written += int64(n)
			switch {
			case err != nil:
				p.fail(err) // fail also unlocks mu
			case len(p.pending) > 0:
				p.drain() // drain also unlocks mu
			default:
				p.busy = false
				p.mu.Unlock()
			}
		case <-p.quit:
			return
		}
	}
}

// fail makes the pipe unusable. The caller must hold mu. fail unlocks it.
func (p *Pipe) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	p.broken(err)
}

// Reached reports whether the child may have read a part of the message at offset *position.
func (p *Pipe) Reached(position *int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written > *position
}

// Shut makes later writes fail, and closes the child's input. It must be called only once.
func (p *Pipe) Shut() {
	p.mu.Lock()
	if p.err == nil {
		p.err = ErrClosed
	}
	p.mu.Unlock()
	p.file.Close() // makes a blocked write return
	close(p.quit)
	<-p.done
}

// ErrTooLong means that a message exceeds Config.MaxMessage.
var ErrTooLong = errors.New("a message from the server is too long")

const (
	lineBuffer = 64 << 10
	bigLine    = 32 << 10 // a line of at least this length stays valid after the next call to Next
	maxExpect  = 4 << 20  // maximum value of LineReader.expect
)

// A LineReader splits a stream into lines of limited length.
type LineReader struct {
	r   io.Reader
	max int

	buf        []byte
	spare      []byte // buffer of the usual size, saved for later while buf is larger
	expect     int    // expected length of a large line: the length of the latest large line, but at most maxExpect
	start, end int    // buf[start:end] holds the bytes that have been read but not returned
	seen       int    // offset in buf; no newline lies between start and this offset
	err        error
}

func NewLineReader(r io.Reader, max int) *LineReader {
	return &LineReader{r: r, max: max, buf: make([]byte, lineBuffer)}
}

// Next returns the next line without its line ending. If kept is true, the line stays valid;
// otherwise, it is valid only until the next call. A final line without a line ending is not
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
	if len(line) < len(l.buf)/4 { // use a copy, because callers may retain the line, and with it the whole buffer, for a long time
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

// replace switches to another buffer, because the caller of Next may keep a line in the old one.
// The new buffer begins with a copy of rest, the bytes that have not been returned yet.
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

// grow at least doubles the size of the buffer. A server's large lines tend to have similar
// lengths, so grow also makes room for a line as long as the latest large line, up to maxExpect.
// Otherwise, the buffer might be doubled, and thus copied, several times for each large line.
func (l *LineReader) grow() {
	grown := make([]byte, max(2*len(l.buf), l.expect+bigLine))
	l.end = copy(grown, l.buf[l.start:l.end])
	if len(l.buf) == lineBuffer {
		l.spare = l.buf
	}
	l.buf, l.start, l.seen = grown, 0, l.end
}

// maxTail is the maximum number of bytes that a [Tail] reads after its deadline. It exceeds the
// capacity of a pipe, so all bytes that are in the pipe at the deadline can be read.
const maxTail = 1 << 20

// A Tail reads a child's output to its end. Reading has a deadline, because a process that has
// escaped from the child's process tree may keep the pipe open after the child has ended. Bytes
// that are in the pipe at the deadline can still be read later, so that the child's last output is
// not lost.
type Tail struct {
	file *pipe.File
	late int // number of bytes read after the deadline
}

// NewTail returns a Tail that reads from f.
func NewTail(f *os.File) *Tail { return &Tail{file: pipe.New(f)} }

// Read reads the available bytes. If none are available, it waits until some arrive or the deadline
// passes.
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
