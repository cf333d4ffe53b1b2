package proxy

import (
	"errors"
	"io"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var errSlowClient = errors.New("the client does not read what is written to it")

const (
	bigPart  = 32 << 10  // a part from this size on is written from where it is
	maxBurst = 256 << 10 // what is held back at the most while more is about to come
	maxSpare = 1 << 20   // a buffer above this size is not kept
	maxNews  = 8 << 20   // notifications are dropped while so much waits to be read
)

// A lineWriter is the one owner of an output of lines. Whoever finds it idle
// writes; what comes meanwhile is queued and goes out with the next write, so
// that many messages cost one system call and none waits for a goroutine.
type lineWriter struct {
	out    io.Writer
	aside  bool          // a goroutine of its own writes: nobody else may wait for this output
	broken chan struct{} // closed with the first error

	mu      sync.Mutex
	idle    sync.Cond
	queue   []byte
	spare   []byte
	writing bool
	corks   int
	err     error
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{out: out, broken: make(chan struct{})}
	w.idle.L = &w.mu
	return w
}

// send writes the parts as one line, unless somebody writes: then they are
// queued.
func (w *lineWriter) send(parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
	case len(w.queue) > maxNews && wire.IsNotification(parts[0]): // it is no answer to anything
	case !w.writing && !w.aside && isBig(parts):
		w.writeBig(parts)
		w.drain()
	default:
		w.enqueue(parts)
	}
}

// reply is one more line.
func (w *lineWriter) reply(parts ...[]byte) { w.send(parts...) }

func isBig(parts [][]byte) bool {
	for _, part := range parts {
		if len(part) >= bigPart {
			return true
		}
	}
	return false
}

func (w *lineWriter) enqueue(parts [][]byte) {
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
func (w *lineWriter) writeBig(parts [][]byte) {
	w.writing = true
	out := w.take()
	for _, part := range parts {
		if len(part) < bigPart {
			out = append(out, part...)
			continue
		}
		w.write(out)
		w.write(part)
		out = out[:0]
	}
	w.writeOwn(append(out, '\n'))
}

// cork holds back what is sent until uncork: more is about to come.
func (w *lineWriter) cork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.corks++
}

func (w *lineWriter) uncork() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.corks--; w.corks == 0 && !w.writing {
		w.begin()
	}
}

// begin writes what is queued, here or aside.
func (w *lineWriter) begin() {
	if !w.aside {
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
func (w *lineWriter) drain() {
	w.writing = true
	for len(w.queue) > 0 && w.err == nil {
		w.writeOwn(w.take())
	}
	w.writing = false
	w.idle.Broadcast()
}

// take is what is queued.
func (w *lineWriter) take() []byte {
	queue := w.queue
	w.queue, w.spare = w.spare[:0], nil
	return queue
}

// writeOwn writes a buffer of ours, which is kept for later.
func (w *lineWriter) writeOwn(out []byte) {
	w.write(out)
	if cap(out) <= maxSpare {
		w.spare = out[:0]
	}
}

// write writes out. The lock is not held meanwhile; writing is set.
func (w *lineWriter) write(out []byte) {
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

func (w *lineWriter) fail(err error) {
	if w.err == nil {
		w.err = err
		close(w.broken)
	}
}

// close writes what is queued, and then nothing more.
func (w *lineWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && w.err == nil {
		w.idle.Wait()
	}
	w.drain()
	w.fail(io.ErrClosedPipe)
}

// awaitIdle waits until nobody writes any more, after close.
func (w *lineWriter) awaitIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.idle.Wait()
	}
}
