package hook

import (
	"container/list"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// maxOpen is how many calls of one session wait for the event after them. Of more, the oldest
// are unknown.
const maxOpen = 1000

// Bounds of the sessions whose calls are kept.
const (
	manySessions = 500
	maxSessions  = 10_000
	maxOwn       = 1000           // of one principal, who may be told of by any number of names
	idleSession  = 24 * time.Hour // after which one of many is forgotten
)

// A call is one that was told of before it is made.
type call struct {
	key    string // of the agent, or made from what it says
	digest string // of the tool and the arguments that were decided on
	sent   string // the same with the arguments that the agent sent
	turn   string
	ticket *admission.Ticket // nil: it is not admitted, or not yet
	told   bool              // it is settled as unknown, and an event after it still counts

	decided chan struct{} // closed with reply
	reply   Reply
}

// calls are those of one session of an agent, in their order. The zero value is ready to use.
type calls struct {
	mu    sync.Mutex
	order list.List                  // *call
	byKey map[string][]*list.Element // the same key more than once where the agent gives no ids
	ended bool

	used time.Time // guarded by the lock of the gate
	own  bool      // the session of the proxy is for it alone
}

// begin notes a call that is to be decided. Where the agent has told of the same one before, it
// returns that one, and whether it is over. It returns those that are not under way any more as late.
func (s *calls) begin(c *call, unique bool) (known *call, over bool, late []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if same := s.byKey[c.key]; unique && len(same) > 0 {
		known = same[0].Value.(*call)
		return known, known.told, nil
	}
	if s.byKey == nil {
		s.byKey = map[string][]*list.Element{}
	}
	late = s.late(func(o *call) bool { return c.turn == "" || o.turn != c.turn })
	for s.order.Len() >= maxOpen {
		oldest := s.order.Front()
		late = append(late, s.tell(oldest.Value.(*call))...)
		s.drop(oldest)
	}
	s.byKey[c.key] = append(s.byKey[c.key], s.order.PushBack(c))
	return nil, false, late
}

// admit notes that a call is admitted. It reports false where the session is over.
func (s *calls) admit(c *call, t *admission.Ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ticket = t
	return !s.ended
}

// forget forgets a call that is not made.
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

// take returns the oldest call of a key that is admitted, which has ended; nil: there is none.
func (s *calls) take(key string) *call {
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

// interrupt returns those that are under way no more, since their turn has ended.
func (s *calls) interrupt() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late(func(*call) bool { return true })
}

// end is interrupt for a session that is over.
func (s *calls) end() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.late(func(*call) bool { return true })
}

// late requires the lock.
func (s *calls) late(which func(*call) bool) (late []*call) {
	for e := s.order.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*call); which(c) {
			late = append(late, s.tell(c)...)
		}
	}
	return late
}

// tell returns the call where it is to be settled as unknown. It requires the lock.
func (s *calls) tell(c *call) []*call {
	if c.ticket == nil || c.told {
		return nil
	}
	c.told = true
	return []*call{c}
}

// drop requires the lock.
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
