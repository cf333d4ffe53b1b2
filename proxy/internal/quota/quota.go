// Package quota limits how much of a resource each principal occupies, such as slots or bytes, so
// that one principal cannot use up the resource for all others.
package quota

import "sync"

// A Quota counts the units of a resource that principals occupy. The zero value is ready to use. A
// Quota is safe for concurrent use.
type Quota struct {
	mu    sync.Mutex
	total int
	held  map[string]int // number of units of each principal; contains no zeros
}

// Add counts n more units for the principal if allow accepts this. The arguments of allow are the
// numbers of units that the principal and all principals have before. Add also returns the first of
// these numbers.
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

// Take counts one unit for the principal; limit is the total number of units. If Take fails, it
// returns the number of units that the principal has. If there are several principals, a principal
// can hold at most as many units as are free. A principal that is alone in using units thus gets at
// most half of them, two principals get a third each, and one unit always stays free for another
// principal.
func (q *Quota) Take(principal string, limit int, several bool) (own int, ok bool) {
	return q.Add(principal, 1, func(own, all int) bool { return all < limit && (!several || Fair(own, limit-all)) })
}

// Fair reports whether a principal may take another free unit when there are several principals.
// own is the number of units that it already holds.
func Fair(own, free int) bool { return own < free }

// Give returns n of the principal's units. It does nothing if the principal has none.
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

// Set replaces all counts. held must contain no zeros.
func (q *Quota) Set(held map[string]int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held, q.total = held, 0
	for _, n := range held {
		q.total += n
	}
}
