package pool

import (
	"sync"
)

// ByServer keeps what one part of the proxy knows of each connection to a server,
// from its first use until the connection has ended. The zero value is empty.
type ByServer[T any] struct {
	mu sync.Mutex
	of map[*Server]*T
}

// At returns what is kept of a connection. Of one that has ended nothing is kept.
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

// Forget is called once a connection has ended.
func (b *ByServer[T]) Forget(u *Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, u)
}
