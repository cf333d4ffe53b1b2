package webhook

import (
	"sync"
	"time"
)

// health is how the last request to the system went.
type health struct {
	mu    sync.Mutex
	err   string // empty: well
	since time.Time
}

// set reports whether the system has gone or come back with this.
func (s *health) set(err string, now time.Time) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = (s.err == "") != (err == "")
	if s.err = err; changed {
		s.since = now
	}
	return changed
}

func (s *health) now() (err string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err, s.since
}
