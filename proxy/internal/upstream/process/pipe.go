package process

import (
	"errors"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/petrigate/petrigate/internal/pipe"
)

// ErrClosed is the error that a connection returns after Close.
var ErrClosed = errors.New("the connection was closed")

// MaxPending is the maximum number of bytes that are kept for a child that does not read.
const MaxPending = 16 << 20

var errNotReading = errors.New("the server is not reading its input")

// maxBurst is the maximum number of bytes that are buffered while more messages are expected.
const maxBurst = 256 << 10

// keepBuffer is the maximum size of an empty buffer that is kept for reuse.
const keepBuffer = 1 << 20

// A Pipe writes messages to a child's standard input. Callers never wait for the child: a caller
// writes as much as the pipe accepts at once, including messages that other callers have added in
// the meantime, and a goroutine (the flusher) writes the rest. mu guards the fields below it. busy
// is true while there is a writer; there is at most one.
type Pipe struct {
	file   *pipe.File
	broken func(error) // called once, when writing has failed

	mu      sync.Mutex
	pending []byte // bytes that are not being written yet
	spare   []byte // empty buffer that the next writer can reuse; nil: none
	busy    bool   // whether a caller or the flusher is writing
	corks   int    // number of callers that are currently holding back writes
	queued  int64  // length of the stream, including all appended bytes
	written int64  // length of the beginning of the stream that the child may have read
	err     error  // why no more messages are accepted

	stuck chan []byte // passes unwritten bytes, and with them the role of the writer, to the flusher
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

// Nowhere is the position of a message that was not added to the stream.
const Nowhere = math.MaxInt64

// Write queues a message and a newline. The function build appends the message, of about size
// bytes, to its argument. Write stores the message's position in the stream in position, for
// Reached. Unless another goroutine is writing, it then writes all queued messages. If several is
// true, it first lets all runnable goroutines run: many of them may be about to queue a message,
// and one system call then writes all of these messages.
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
	OneLine(p.pending[before:], ' ')
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
	p.drain() // this also unlocks mu
	return nil
}

// Cork holds back writes until Uncork is called, because more messages are about to be added.
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
	p.drain() // this also unlocks mu
}

// rounds is how many times a caller writes the messages of others before the flusher continues.
const rounds = 4

// drain writes pending bytes without blocking. The caller must have set busy and must hold mu.
// drain unlocks mu.
func (p *Pipe) drain() {
	for range rounds {
		out := p.pending
		p.pending, p.spare = p.spare[:0], nil
		p.mu.Unlock()
		n, err := p.file.TryWrite(out)
		p.mu.Lock()
		p.written += int64(n)
		if err != nil {
			p.fail(err) // this also unlocks mu
			return
		}
		if n < len(out) {
			p.mu.Unlock()
			p.stuck <- out[n:] // never blocks, because only the one writer sends
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
				p.fail(err) // this also unlocks mu
			case len(p.pending) > 0:
				p.drain() // this also unlocks mu
			default:
				p.busy = false
				p.mu.Unlock()
			}
		case <-p.quit:
			return
		}
	}
}

// fail makes the pipe unusable. The caller must hold mu. fail unlocks mu.
func (p *Pipe) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	p.broken(err)
}

// Reached reports whether the child may have read any byte of the message that is at the given
// position.
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
	p.file.Close() // this also ends a blocked write
	close(p.quit)
	<-p.done
}
