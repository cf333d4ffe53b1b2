package proxy

import "sync"

// A share counts, by principal, what of something is taken of which there is only
// so much.
type share struct {
	mu    sync.Mutex
	total int
	held  map[string]int // by principal; none with 0
}

// take takes one of limit for the principal, and reports how many it has where it
// gets none. Where there are several principals, one that has as many as are free
// gets no more: one alone has half at most, two have a third each, and there is
// always something for another.
func (s *share) take(principal string, limit int, several bool) (own int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own = s.held[principal]
	if s.total >= limit || several && !fair(own, limit-s.total) {
		return own, false
	}
	if s.held == nil {
		s.held = map[string]int{}
	}
	s.held[principal]++
	s.total++
	return own, true
}

// fair reports whether a principal of several that has own gets another one of
// those that are free.
func fair(own, free int) bool { return own < free }

// give gives one back.
func (s *share) give(principal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.held[principal]--; s.held[principal] == 0 {
		delete(s.held, principal)
	}
}
