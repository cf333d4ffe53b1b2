package hook

import (
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// maxOpen limits the number of a session's calls whose ends have not been reported. If there are
// more, the oldest are settled as unknown.
const maxOpen = 1000

// Limits on sessions with calls.
const (
	manySessions = 500
	maxSessions  = 10_000
	maxOwn       = 1000           // number of sessions per principal; limited because a principal can name any number of sessions
	idleSession  = 24 * time.Hour // an unused session is forgotten after this time if there are many sessions
)

// call is a call that an agent has reported before making it.
type call struct {
	key            string // the agent's ID for the call, or a digest of the call
	digest         string // digest of the tool and of the arguments that were decided on
	sent           string // digest of the tool and of the arguments that the agent sent
	turn           string
	ticket         *admission.Ticket // nil: not admitted, or not yet admitted
	settledUnknown bool              // settled as unknown, but a later event still counts

	decided chan struct{} // closed when reply is set
	reply   Reply
}

// calls holds the calls of one agent session, in order. Its zero value is ready to use.
type calls struct {
	mu    sync.Mutex
	open  []*call // several calls have the same key if the agent gives no IDs
	ended bool

	used time.Time // guarded by Gate.mu
	own  bool      // the proxy has a session that serves only this agent session
}

// add adds a call that will be decided. If unique is true and a call with the same key exists, add
// returns this call as known, and over reports whether it has ended. late contains the admitted
// calls that can no longer be in flight.
func (s *calls) add(c *call, unique bool) (known *call, over bool, late []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.open, func(o *call) bool { return o.key == c.key }); unique && i >= 0 {
		return s.open[i], s.open[i].settledUnknown, nil
	}
	late = s.markLate(func(o *call) bool { return c.turn == "" || o.turn != c.turn })
	if len(s.open) >= maxOpen {
		late = append(late, s.markLate(func(o *call) bool { return o == s.open[0] })...)
		s.open = slices.Delete(s.open, 0, 1)
	}
	s.open = append(s.open, c)
	return nil, false, late
}

// admit sets an admitted call's ticket. It returns false if the session has ended.
func (s *calls) admit(c *call, t *admission.Ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ticket = t
	return !s.ended
}

// forget removes a call that will not be made.
func (s *calls) forget(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o *call) bool { return o == c })
}

// takeAdmitted removes and returns the oldest admitted call with the key, because it has ended. It
// returns nil if no admitted call has the key.
func (s *calls) takeAdmitted(key string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.open, func(c *call) bool { return c.key == key && c.ticket != nil })
	if i < 0 {
		return nil
	}
	c := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	return c
}

// interrupt returns the calls to settle as unknown because their turn has ended.
func (s *calls) interrupt() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.markLate(func(*call) bool { return true })
}

// end marks the session as ended, and returns the calls to settle as unknown.
func (s *calls) end() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.markLate(func(*call) bool { return true })
}

// markLate marks the selected calls that are admitted as settled unknown, and returns those that
// were not marked before. The caller must hold the lock.
func (s *calls) markLate(which func(*call) bool) (late []*call) {
	for _, c := range s.open {
		if c.ticket != nil && !c.settledUnknown && which(c) {
			c.settledUnknown = true
			late = append(late, c)
		}
	}
	return late
}
