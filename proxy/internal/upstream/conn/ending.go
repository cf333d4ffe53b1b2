package conn

import (
	"sync"
)

// An Ending is how a connection becomes useless: once, for the first reason
// there is. Its methods can be called from any goroutine.
type Ending struct {
	ended chan struct{} // closed when there is a reason

	mu  sync.Mutex
	err error
}

func NewEnding() Ending { return Ending{ended: make(chan struct{})} }

// Over is closed when the connection is of no use any more.
func (e *Ending) Over() <-chan struct{} { return e.ended }

// Cause is why it is of no use; nil while it is.
func (e *Ending) Cause() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Fail makes the connection useless. The first reason counts.
func (e *Ending) Fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
		close(e.ended)
	}
}
