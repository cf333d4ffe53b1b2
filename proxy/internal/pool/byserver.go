package pool

import (
	"sync"
)

// ByServer holds a value for each connection to a server, from its first use until the
// connection has ended. The zero value is empty.
type ByServer[T any] struct {
	mu sync.Mutex
	of map[*Server]*T
}

// At returns the value of a connection, and makes it if need be. The value of a
// connection that has ended is not kept.
func (b *ByServer[T]) At(u *Server) *T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.of[u]; known != nil {
		return known
	}
	made := new(T)
	if u.ended() {
		return made
	}
	if b.of == nil {
		b.of = map[*Server]*T{}
	}
	b.of[u] = made
	return made
}

// Forget drops the value of a connection that has ended.
func (b *ByServer[T]) Forget(u *Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, u)
}
