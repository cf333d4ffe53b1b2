package audit

import "sync"

// A Buffer is a bounded queue of values for one reader. When it is full, adding a value drops the
// oldest one. It is safe for concurrent use.
type Buffer[T any] struct {
	most  int
	ready chan struct{} // contains an element while there are buffered values

	mu   sync.Mutex
	held []T // buffered values, oldest first
	lost int // number of values dropped because the buffer was full
}

// NewBuffer returns a buffer that holds at most the given number of values.
func NewBuffer[T any](most int) *Buffer[T] {
	return &Buffer[T]{most: most, ready: make(chan struct{}, 1)}
}

// Ready returns a channel that receives a value when there are buffered values to take.
func (b *Buffer[T]) Ready() <-chan struct{} { return b.ready }

// Take removes and returns the buffered values, oldest first. The result lost is the number of
// older values that were dropped since the previous call.
func (b *Buffer[T]) Take() (values []T, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	values, lost = b.held, b.lost
	b.held, b.lost = nil, 0
	return values, lost
}

// Add appends a value. It never blocks.
func (b *Buffer[T]) Add(value T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.held) == b.most {
		b.held = b.held[1:]
		b.lost++
	}
	b.held = append(b.held, value)
	select {
	case b.ready <- struct{}{}:
	default:
	}
}
