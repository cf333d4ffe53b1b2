package proxy

import "sync"

// abandonedCalls counts, by session, the calls that a client has cancelled and the
// server has not answered: what the server asks now may be for one of them.
type abandonedCalls struct {
	mu sync.Mutex
	of map[*session]int // none with 0
}

// add counts n more.
func (a *abandonedCalls) add(s *session, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[*session]int{}
	}
	if a.of[s] += n; a.of[s] == 0 {
		delete(a.of, s)
	}
}

// byOthers reports whether the server may still be busy with a call of another
// session.
func (a *abandonedCalls) byOthers(s *session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other := range a.of {
		if other != s {
			return true
		}
	}
	return false
}
