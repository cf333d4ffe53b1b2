package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// A table has cells by labels. Reading it takes no lock; it grows by copies, up to a bound.
type table[K comparable, V any] struct {
	limit int
	all  atomic.Pointer[map[K]*V]
	mu   sync.Mutex // held to grow
}

// get returns the cells of k; nil: there are none yet.
func (t *table[K, V]) get(k K) *V {
	if all := t.all.Load(); all != nil {
		return (*all)[k]
	}
	return nil
}

// add returns the cells of k, which are made if need be; those of rest, if there is no room.
func (t *table[K, V]) add(k, rest K, made *V) *V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := t.get(k); have != nil {
		return have
	}
	old := t.all.Load()
	if old != nil && len(*old) >= t.limit {
		if have := (*old)[rest]; have != nil {
			return have
		}
		k = rest
	}
	grown := map[K]*V{}
	if old != nil {
		grown = maps.Clone(*old)
	}
	grown[k] = made
	t.all.Store(&grown)
	return made
}
