package proxy

import "sync"

// byServer keeps what one part of the proxy knows of each connection to a server,
// from its first use until the connection has ended. The zero value is empty.
type byServer[T any] struct {
	mu sync.Mutex
	of map[*upstreamState]*T
}

// at returns what is kept of a connection. Of one that has ended nothing is kept.
func (b *byServer[T]) at(u *upstreamState) *T {
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
		b.of = map[*upstreamState]*T{}
	}
	b.of[u] = made
	return made
}

// forget is called once a connection has ended.
func (b *byServer[T]) forget(u *upstreamState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, u)
}
