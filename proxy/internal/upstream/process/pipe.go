package process

import (
	"errors"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/petrigate/petrigate/internal/pipe"
)

// ErrClosed is the reason of everything that ends because of Close.
var ErrClosed = errors.New("the connection was closed")

// MaxPending bounds what waits for a child that does not read.
const MaxPending = 16 << 20

var errNotReading = errors.New("the server is not reading its input")

// maxBurst is how much is held back at the most while more is about to come.
const maxBurst = 256 << 10

// keepBuffer is the size above which an empty buffer is not kept.
const keepBuffer = 1 << 20

// Pipe writes messages to a child's standard input. Nobody waits for the
// child: the caller writes what the pipe takes at once, also for those who
// came meanwhile, and a goroutine writes what it does not take.
type Pipe struct {
	file   *pipe.File
	broken func(error) // called once, when writing failed

	mu      sync.Mutex
	pending []byte // not being written yet
	writing []byte // spare buffer, or what the one who is busy writes
	busy    bool   // somebody writes
	corks   int    // how many hold writes back
	queued  int64  // length of the stream with all that was ever appended
	written int64  // length of the stream that the child can have seen
	err     error  // nothing is taken any more

	stuck chan []byte // to the flusher, which then is the busy one
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

// Nowhere is the position of what is not in the stream.
const Nowhere = math.MaxInt64

// Write appends a message that build makes of about size bytes, and its
// newline. The message's position in the stream goes to position, which
// reached reads.
func (p *Pipe) Write(position *int64, size int, build func([]byte) []byte) error {
	return p.append(position, size, build, func() {})
}

// WriteTogether appends a message as Write does, and lets all goroutines that are ready to run
// do so before it writes: many of them may be about to append a message, and one call of the
// system writes all.
func (p *Pipe) WriteTogether(position *int64, size int, build func([]byte) []byte) error {
	return p.append(position, size, build, runtime.Gosched)
}

// append appends a message. If nobody writes, it waits, and then writes what is there.
func (p *Pipe) append(position *int64, size int, build func([]byte) []byte, wait func()) error {
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
	p.mu.Unlock()
	wait()
	p.mu.Lock()
	p.drain() // unlocks
	return nil
}

// Cork holds writes back until uncork: more is about to come.
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
	p.drain() // unlocks
}

// rounds is how often a caller writes for others before the flusher does.
const rounds = 4

// drain writes what is pending without waiting. It is called by the one who
// made the pipe busy, with the lock held, and releases it.
func (p *Pipe) drain() {
	for range rounds {
		out := p.take()
		p.mu.Unlock()
		n, err := p.file.TryWrite(out)
		p.mu.Lock()
		p.written += int64(n)
		if err != nil {
			p.fail(err) // unlocks
			return
		}
		if n < len(out) {
			p.mu.Unlock()
			p.stuck <- out[n:] // has room: only the busy one sends
			return
		}
		p.spare(out)
		if len(p.pending) == 0 {
			p.busy = false
			p.mu.Unlock()
			return
		}
	}
	p.mu.Unlock()
	p.stuck <- nil
}

// take makes what is pending what is being written.
func (p *Pipe) take() []byte {
	out := p.pending
	p.pending, p.writing = p.writing[:0], nil
	return out
}

func (p *Pipe) spare(out []byte) {
	if cap(out) <= keepBuffer {
		p.writing = out[:0]
	}
}

// flush writes what callers could not, waiting for the child, until shut.
func (p *Pipe) flush() {
	defer close(p.done)
	for {
		select {
		case out := <-p.stuck:
			p.flushAll(out)
		case <-p.quit:
			return
		}
	}
}

func (p *Pipe) flushAll(out []byte) {
	for {
		n, err := p.file.Write(out)
		p.mu.Lock()
		p.written += int64(n)
		if err != nil {
			p.fail(err)
			return
		}
		if len(p.pending) == 0 {
			p.busy = false
			p.mu.Unlock()
			return
		}
		p.spare(out)
		out = p.take()
		p.mu.Unlock()
	}
}

// fail ends the pipe. It is called with the lock held, and releases it.
func (p *Pipe) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	p.broken(err)
}

// Reached reports whether the child can have seen a byte of what begins at
// position.
func (p *Pipe) Reached(position *int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written > *position
}

// Shut makes every later write fail, and lets the child see the end of its
// input. It is called once.
func (p *Pipe) Shut() {
	p.mu.Lock()
	if p.err == nil {
		p.err = ErrClosed
	}
	p.mu.Unlock()
	p.file.Close() // also ends a write that waits
	close(p.quit)
	<-p.done
}
