package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// A table maps labels to cells. Reading takes no lock. A table grows by copying, up to a limit.
type table[K comparable, V any] struct {
	limit int
	all   atomic.Pointer[map[K]*V]
	mu    sync.Mutex // held while the table grows
}

// get returns the cells of k, or nil.
func (t *table[K, V]) get(k K) *V {
	if all := t.all.Load(); all != nil {
		return (*all)[k]
	}
	return nil
}

// add returns the cells of k, and stores made if k has none. If the table is full, it does the same
// for rest.
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
