package pool

import (
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// abandonedCalls counts, by session, the calls that a client has cancelled and the
// server has not answered: what the server asks now may be for one of them.
type abandonedCalls struct {
	mu sync.Mutex
	of map[*session.Session]int // none with 0
}

// Add counts n more.
func (a *abandonedCalls) Add(s *session.Session, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[*session.Session]int{}
	}
	if a.of[s] += n; a.of[s] == 0 {
		delete(a.of, s)
	}
}

// ByOthers reports whether the server may still be busy with a call of another
// session.
func (a *abandonedCalls) ByOthers(s *session.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for other := range a.of {
		if other != s {
			return true
		}
	}
	return false
}
