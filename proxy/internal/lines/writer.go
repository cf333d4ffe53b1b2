package lines

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxQueued limits the bytes queued for a client that does not read.
const maxQueued = 64 << 20

var errSlowClient = errors.New("the client does not read what is written to it")

const (
	bigPart  = 32 << 10  // minimum size of a part that is written without copying it
	maxBurst = 256 << 10 // maximum bytes held back while more messages are expected
	maxSpare = 1 << 20   // maximum size of a buffer that is kept
	maxNews  = 8 << 20   // notifications are dropped while more bytes than this are queued
)

// A Writer owns an output of lines and is safe for concurrent use. A goroutine that finds it idle
// writes; messages that come meanwhile are queued and written next, so that many messages cost one
// system call and none waits for a goroutine to be scheduled. mu guards the fields below it; it is
// released during a write, when writing is true.
type Writer struct {
	// Aside makes a goroutine of the Writer's own write, because no sender must wait for this
	// output. Set it before the first Send.
	Aside bool

	out    io.Writer
	broken chan struct{} // closed at the first error

	mu      sync.Mutex
	idle    sync.Cond
	queue   []byte
	spare   []byte
	writing bool
	corks   int
	err     error
}

// NewWriter returns a Writer for out, which must not be written to by others.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out, broken: make(chan struct{})}
	w.idle.L = &w.mu
	return w
}

// Send writes the parts as one line. It only queues them if another goroutine is writing or the
// Writer is corked.
func (w *Writer) Send(parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
	case len(w.queue) > maxNews && wire.IsNotification(parts[0]): // drop it: no peer waits for a notification
	case !w.writing && !w.Aside && slices.ContainsFunc(parts, isBig):
		w.writeBig(parts)
		w.drain()
	default:
		w.enqueue(parts)
	}
}

// Broken returns a channel that is closed at the first error, or by Close.
func (w *Writer) Broken() <-chan struct{} { return w.broken }

// Err returns the error that ended the output, or nil.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Reply writes the parts as one line, like Send.
func (w *Writer) Reply(parts ...[]byte) { w.Send(parts...) }

func isBig(part []byte) bool { return len(part) >= bigPart }

func (w *Writer) enqueue(parts [][]byte) {
	for _, part := range parts {
		w.queue = append(w.queue, part...)
	}
	w.queue = append(w.queue, '\n')
	switch {
	case w.writing && len(w.queue) > maxQueued:
		w.fail(errSlowClient)
	case w.writing || w.corks > 0 && len(w.queue) < maxBurst:
	default:
		w.begin()
	}
}

// writeBig writes the queue and then one line, without copying its big parts. Messages that come
// meanwhile are queued.
func (w *Writer) writeBig(parts [][]byte) {
	w.writing = true
	out := w.take()
	for _, part := range parts {
		if !isBig(part) {
			out = append(out, part...)
			continue
		}
		w.write(out)
		w.write(part)
		out = out[:0]
	}
	w.writeOwn(append(out, '\n'))
}

// Cork holds messages back until Uncork, because more are about to come.
func (w *Writer) Cork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.corks++
}

// Uncork undoes one Cork. The last one writes the queue.
func (w *Writer) Uncork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.corks--; w.corks == 0 && !w.writing {
		w.begin()
	}
}

// begin writes the queue, or starts a goroutine for it if Aside is set.
func (w *Writer) begin() {
	if !w.Aside {
		w.drain()
		return
	}
	w.writing = true
	go func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.drain()
	}()
}

// drain writes until the queue is empty. The caller must hold mu.
func (w *Writer) drain() {
	w.writing = true
	for len(w.queue) > 0 && w.err == nil {
		w.writeOwn(w.take())
	}
	w.writing = false
	w.idle.Broadcast()
}

// take removes and returns the queue.
func (w *Writer) take() []byte {
	queue := w.queue
	w.queue, w.spare = w.spare[:0], nil
	return queue
}

// writeOwn writes a buffer of the Writer and keeps it for later.
func (w *Writer) writeOwn(out []byte) {
	w.write(out)
	if cap(out) <= maxSpare {
		w.spare = out[:0]
	}
}

// write writes out, and releases mu meanwhile. writing must be true.
func (w *Writer) write(out []byte) {
	if len(out) == 0 || w.err != nil {
		return
	}
	w.mu.Unlock()
	_, err := w.out.Write(out)
	w.mu.Lock()
	if err != nil {
		w.fail(err)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
		close(w.broken)
	}
}

// Close writes the queue. Later messages are dropped.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && w.err == nil {
		w.idle.Wait()
	}
	w.drain()
	w.fail(io.ErrClosedPipe)
}

// AwaitIdle waits until no goroutine writes any more. Call it after Close.
func (w *Writer) AwaitIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.idle.Wait()
	}
}
