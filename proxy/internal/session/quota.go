package session

import "sync"

// A Quota shares a limited number of places out to principals.
type Quota struct {
	mu    sync.Mutex
	total int
	held  map[string]int // by principal; none with 0
}

// Take takes one of limit places for the principal, or returns how many the principal
// has. If there are several principals, each gets as many as would still be free: one
// alone gets half at most, two get a third each, and one place stays free for another.
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

// Fair reports whether a principal that has own places may take one of those that are
// free, if there are several principals.
func Fair(own, free int) bool { return own < free }

// Give returns one place of the principal.
func (s *Quota) Give(principal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.held[principal]--; s.held[principal] == 0 {
		delete(s.held, principal)
	}
}
