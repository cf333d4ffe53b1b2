package proxy

import (
	"errors"
	"io"
	"sync"
)

var errSlowClient = errors.New("the client does not read what is written to it")

// A lineWriter is the one owner of an output of lines. Whoever finds it idle
// writes; what comes meanwhile is queued and goes out with the next write, so
// that many messages cost one system call and none waits for a goroutine.
type lineWriter struct {
	out    io.Writer
	broken chan struct{} // closed with the first error

	mu      sync.Mutex
	idle    sync.Cond
	queue   []byte
	spare   []byte
	writing bool
	err     error
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{out: out, broken: make(chan struct{})}
	w.idle.L = &w.mu
	return w
}

// send queues the parts as one line and writes unless somebody does.
func (w *lineWriter) send(parts ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	for _, part := range parts {
		w.queue = append(w.queue, part...)
	}
	w.queue = append(w.queue, '\n')
	switch {
	case w.writing && len(w.queue) > maxQueued:
		w.fail(errSlowClient)
	case !w.writing:
		w.drain()
	}
}

// reply is one more line.
func (w *lineWriter) reply(parts ...[]byte) { w.send(parts...) }

// drain writes until the queue is empty. The lock is not held over a write.
func (w *lineWriter) drain() {
	w.writing = true
	for len(w.queue) > 0 && w.err == nil {
		batch := w.queue
		w.queue, w.spare = w.spare[:0], nil
		w.mu.Unlock()
		_, err := w.out.Write(batch)
		w.mu.Lock()
		if err != nil {
			w.fail(err)
		}
		if cap(batch) <= 1<<20 {
			w.spare = batch[:0]
		}
	}
	w.writing = false
	w.idle.Broadcast()
}

func (w *lineWriter) fail(err error) {
	if w.err == nil {
		w.err = err
		close(w.broken)
	}
}

// close waits for the write that is under way.
func (w *lineWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing && w.err == nil {
		w.idle.Wait()
	}
	w.fail(io.ErrClosedPipe)
}
