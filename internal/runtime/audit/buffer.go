package audit

import "sync"

// A Buffer holds values for one reader. If it is full, it drops the oldest value. It is safe for
// concurrent use.
type Buffer[T any] struct {
	most  int
	ready chan struct{} // has an element while values are buffered

	mu   sync.Mutex
	held []T // buffered values, oldest first
	lost int // number of values dropped because the buffer was full
}

// NewBuffer returns a buffer for at most the given number of values.
func NewBuffer[T any](most int) *Buffer[T] {
	return &Buffer[T]{most: most, ready: make(chan struct{}, 1)}
}

// Ready returns a channel that has an element while values are available.
func (b *Buffer[T]) Ready() <-chan struct{} { return b.ready }

// Take returns and removes the buffered values, oldest first. lost is the number of dropped values
// that preceded them.
func (b *Buffer[T]) Take() (values []T, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	values, lost = b.held, b.lost
	b.held, b.lost = nil, 0
	return values, lost
}

// Add appends a value. It does not block.
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
