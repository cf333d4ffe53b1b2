package session

import "sync"

// A Share counts, by principal, what of something is taken of which there is only
// so much.
type Quota struct {
	mu    sync.Mutex
	total int
	held  map[string]int // by principal; none with 0
}

// Take takes one of limit for the principal, and reports how many it has where it
// gets none. Where there are several principals, one that has as many as are free
// gets no more: one alone has half at most, two have a third each, and there is
// always something for another.
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

// Fair reports whether a principal of several that has own gets another one of
// those that are free.
func Fair(own, free int) bool { return own < free }

// Give gives one back.
func (s *Quota) Give(principal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.held[principal]--; s.held[principal] == 0 {
		delete(s.held, principal)
	}
}
