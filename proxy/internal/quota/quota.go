// Package quota limits how many units of a resource, such as slots or bytes, each principal can
// hold, so that one principal cannot use up the resource for all others.
package quota

import "sync"

// A Quota counts the units of a resource held by each principal. The zero value is ready to use. A
// Quota is safe for concurrent use.
type Quota struct {
	mu    sync.Mutex
	total int
	held  map[string]int // units held by each principal; a principal that holds no units has no entry
}

// Add adds n to the number of units that the principal holds, if allow returns true. It calls allow
// with the number of units that the principal holds and the number that all principals hold
// together. Add returns the number that the principal held before, and the result of allow.
func (q *Quota) Add(principal string, n int, allow func(own, all int) bool) (own int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own = q.held[principal]
	if !allow(own, q.total) {
		return own, false
	}
	if q.held == nil {
		q.held = map[string]int{}
	}
	q.held[principal] += n
	q.total += n
	return own, true
}

// Take adds one unit to the units that the principal holds, unless the total would exceed limit. If
// several principals share the resource, a principal gets the unit only if it holds fewer units
// than are free. A single principal can thus take at most half of the units, rounded up. Take
// returns the number of units that the principal held before. It also reports whether it has added
// the unit.
func (q *Quota) Take(principal string, limit int, several bool) (own int, ok bool) {
	return q.Add(principal, 1, func(own, all int) bool { return all < limit && (!several || Fair(own, limit-all)) })
}

// Fair reports whether a principal may take another unit if several principals share the resource.
// The principal must hold fewer units than are free.
func Fair(own, free int) bool { return own < free }

// Give gives back n of the principal's units. It does nothing if the principal holds no units.
func (q *Quota) Give(principal string, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held[principal] == 0 {
		return
	}
	q.total -= n
	if q.held[principal] -= n; q.held[principal] == 0 {
		delete(q.held, principal)
	}
}

// Set replaces the number of units that each principal holds. The map must have no entry for a
// principal without units.
func (q *Quota) Set(held map[string]int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held, q.total = held, 0
	for _, n := range held {
		q.total += n
	}
}
