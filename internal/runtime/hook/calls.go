package hook

import (
	"container/list"
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
	order list.List                  // list of *call
	byKey map[string][]*list.Element // calls by key; several calls have the same key if the agent gives no IDs
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
	if same := s.byKey[c.key]; unique && len(same) > 0 {
		known = same[0].Value.(*call)
		return known, known.settledUnknown, nil
	}
	if s.byKey == nil {
		s.byKey = map[string][]*list.Element{}
	}
	late = s.markLate(func(o *call) bool { return c.turn == "" || o.turn != c.turn })
	for s.order.Len() >= maxOpen {
		oldest := s.order.Front()
		late = append(late, s.markUnknown(oldest.Value.(*call))...)
		s.drop(oldest)
	}
	s.byKey[c.key] = append(s.byKey[c.key], s.order.PushBack(c))
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
	for _, e := range s.byKey[c.key] {
		if e.Value.(*call) == c {
			s.drop(e)
			return
		}
	}
}

// takeAdmitted removes and returns the oldest admitted call with the key, because it has ended. It
// returns nil if no admitted call has the key.
func (s *calls) takeAdmitted(key string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.byKey[key] {
		if c := e.Value.(*call); c.ticket != nil {
			s.drop(e)
			return c
		}
	}
	return nil
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

// markLate marks the selected calls as settled unknown, and returns those that were not marked
// before. The caller must hold the lock.
func (s *calls) markLate(which func(*call) bool) (late []*call) {
	for e := s.order.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*call); which(c) {
			late = append(late, s.markUnknown(c)...)
		}
	}
	return late
}

// markUnknown marks an admitted call as settled unknown, and returns it if it was not marked
// before. The caller must hold the lock.
func (s *calls) markUnknown(c *call) []*call {
	if c.ticket == nil || c.settledUnknown {
		return nil
	}
	c.settledUnknown = true
	return []*call{c}
}

// drop removes a call. The caller must hold the lock.
func (s *calls) drop(e *list.Element) {
	c := s.order.Remove(e).(*call)
	same := s.byKey[c.key]
	for i, other := range same {
		if other == e {
			same = append(same[:i:i], same[i+1:]...)
			break
		}
	}
	if len(same) == 0 {
		delete(s.byKey, c.key)
		return
	}
	s.byKey[c.key] = same
}
