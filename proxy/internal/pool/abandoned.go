package pool

import (
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// abandonedCalls counts, by session, the calls that the proxy no longer waits for and
// the server has not answered: a request of the server may belong to one of them.
type abandonedCalls struct {
	mu sync.Mutex
	of map[*session.Session]int // none with 0
}

// Add adds n to the count of a session.
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

// ByOthers reports whether the server may still be busy with a call of another session
// than s.
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
