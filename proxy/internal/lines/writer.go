package lines

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxQueued bounds what waits to be written to a client that does not read.
const maxQueued = 64 << 20

var errSlowClient = errors.New("the client does not read what is written to it")

const (
	bigPart  = 32 << 10  // a part from this size on is written from where it is
	maxBurst = 256 << 10 // what is held back at the most while more is about to come
	maxSpare = 1 << 20   // a buffer above this size is not kept
	maxNews  = 8 << 20   // notifications are dropped while so much waits to be read
)

// A Writer is the one owner of an output of lines. Whoever finds it idle
// writes; what comes meanwhile is queued and goes out with the next write, so
// that many messages cost one system call and none waits for a goroutine.
type Writer struct {
	// Aside lets a goroutine of its own write: nobody else may wait for this
	// output. It is set before anything is sent.
	Aside bool

	out    io.Writer
	broken chan struct{} // closed with the first error

	mu      sync.Mutex
	idle    sync.Cond
	queue   []byte
	spare   []byte
	writing bool
	corks   int
	err     error
}

// NewWriter makes the writer of an output that nobody else writes to.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: out, broken: make(chan struct{})}
	w.idle.L = &w.mu
	return w
}

// Send writes the parts as one line, unless somebody writes: then they are
// queued.
func (w *Writer) Send(parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
	case len(w.queue) > maxNews && wire.IsNotification(parts[0]): // it is no answer to anything
	case !w.writing && !w.Aside && slices.ContainsFunc(parts, isBig):
		w.writeBig(parts)
		w.drain()
	default:
		w.enqueue(parts)
	}
}

// Broken is closed with the first error, or by Close.
func (w *Writer) Broken() <-chan struct{} { return w.broken }

// Err is why nothing is written any more; nil: it still is.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Reply is one more line.
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

// writeBig writes one line without copying its big parts, after what is
// queued. What others send meanwhile is queued behind it.
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

// Cork holds back what is sent until Uncork: more is about to come.
func (w *Writer) Cork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.corks++
}

// Uncork lets go what one Cork holds back.
func (w *Writer) Uncork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.corks--; w.corks == 0 && !w.writing {
		w.begin()
	}
}

// begin writes what is queued, here or aside.
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

// drain writes until the queue is empty.
func (w *Writer) drain() {
	w.writing = true
	for len(w.queue) > 0 && w.err == nil {
		w.writeOwn(w.take())
	}
	w.writing = false
	w.idle.Broadcast()
}

// take is what is queued.
func (w *Writer) take() []byte {
	queue := w.queue
	w.queue, w.spare = w.spare[:0], nil
	return queue
}

// writeOwn writes a buffer of ours, which is kept for later.
func (w *Writer) writeOwn(out []byte) {
	w.write(out)
	if cap(out) <= maxSpare {
		w.spare = out[:0]
	}
}

// write writes out. The lock is not held meanwhile; writing is set.
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

// Close writes what is queued, and then nothing more.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && w.err == nil {
		w.idle.Wait()
	}
	w.drain()
	w.fail(io.ErrClosedPipe)
}

// AwaitIdle waits until nobody writes any more, after Close.
func (w *Writer) AwaitIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.idle.Wait()
	}
}
