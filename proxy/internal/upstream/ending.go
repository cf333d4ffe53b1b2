package upstream

import "sync"

// An ending is how a connection becomes useless: once, for the first reason
// there is. Its methods can be called from any goroutine.
type ending struct {
	ended chan struct{} // closed when there is a reason

	mu  sync.Mutex
	err error
}

func newEnding() ending { return ending{ended: make(chan struct{})} }

// over is closed when the connection is of no use any more.
func (e *ending) over() <-chan struct{} { return e.ended }

// cause is why it is of no use; nil while it is.
func (e *ending) cause() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// fail makes the connection useless. The first reason counts.
func (e *ending) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
		close(e.ended)
	}
}
