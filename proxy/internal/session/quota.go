package session

import "sync"

// A Quota divides a limited number of slots among principals. The zero value is ready to use. A
// Quota is safe for concurrent use.
type Quota struct {
	mu    sync.Mutex
	total int
	held  map[string]int // number of slots of each principal; contains no zeros
}

// Take takes a slot for the principal; limit is the total number of slots. If Take fails, it
// returns the number of slots that the principal has. If there are several principals, a principal
// can hold at most as many slots as are free. A principal that is alone in using slots thus gets at
// most half of them, two principals get a third each, and one slot always stays free for another
// principal.
func (s *Quota) Take(principal string, limit int, several bool) (own int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own = s.held[principal]
	if s.total >= limit || several && !Fair(own, limit-s.total) {
		return own, false
	}
	if s.held == nil {
		s.held = map[string]int{}
	}
	s.held[principal]++
	s.total++
	return own, true
}

// Fair reports whether a principal may take another free slot when there are several principals.
// own is the number of slots that it already holds.
func Fair(own, free int) bool { return own < free }

// Give returns one of the principal's slots.
func (s *Quota) Give(principal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.held[principal]--; s.held[principal] == 0 {
		delete(s.held, principal)
	}
}
