package webhook

import (
	"sync"
	"time"
)

// health is the result of the last request to the operator's system.
type health struct {
	mu    sync.Mutex
	err   string // error message; empty on success
	since time.Time
}

// set stores the result of a request. It reports whether the result has changed from success to
// failure or from failure to success.
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
