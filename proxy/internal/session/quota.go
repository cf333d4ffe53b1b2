package session

import "sync"

// A Quota divides a limited number of slots among principals. The zero value is ready for use, and
// safe for concurrent use.
type Quota struct {
	mu    sync.Mutex
	total int
	held  map[string]int // slots by principal, without zero entries
}

// Take takes one of limit slots for the principal, or returns how many the principal has. If there
// are several principals, a principal can never hold more slots than remain free: one alone gets at
// most half of them, two get a third each, and one slot stays free for another.
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

// Fair reports whether a principal with own slots can take another of the free ones if there are
// several principals.
func Fair(own, free int) bool { return own < free }

// Give gives one slot of the principal back.
func (s *Quota) Give(principal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.held[principal]--; s.held[principal] == 0 {
		delete(s.held, principal)
	}
}
