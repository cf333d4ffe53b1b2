package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// A table maps labels to cells. Reading requires no lock. To grow, the table copies itself, up to a
// limit.
type table[K comparable, V any] struct {
	limit int
	all   atomic.Pointer[map[K]*V]
	mu    sync.Mutex // held while the table grows
}

// get returns the cells for k, or nil if there are none.
func (t *table[K, V]) get(k K) *V {
	if all := t.all.Load(); all != nil {
		return (*all)[k]
	}
	return nil
}

// add returns the cells for k. If there are none, it stores and returns made. Once the table is
// full, new labels share the cells for rest.
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
