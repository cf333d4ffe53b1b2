// Package turns divides the processors fairly among principals.
package turns

import (
	"runtime"
	"slices"
	"sync"
)

// Turns limits how many messages of one principal are parsed and checked against the policies at
// the same time. The messages of other principals thus still get a processor. Turns is safe for
// concurrent use.
type Turns struct {
	each int

	mu sync.Mutex
	by map[string]*line // keyed by principal; contains only principals that hold a turn
}

// A line holds the turns and the waiting messages of one principal.
type line struct {
	taken   int
	waiting []chan struct{} // one channel per waiting message, closed when the message gets a turn
}

// New returns a Turns for a proxy with several principals.
func New() *Turns {
	return &Turns{each: max(1, runtime.GOMAXPROCS(0)/2), by: map[string]*line{}}
}

// A Turn is a principal's permission to handle one message. The goroutine that handles the message
// must first acquire it. A nil Turn imposes no limit.
type Turn struct {
	Of        *Turns
	Principal string
	taken     bool
}

// Acquire waits until the message may be handled. It returns false if done is closed first.
func (t *Turn) Acquire(done <-chan struct{}) bool {
	if t == nil || t.taken {
		return true
	}
	wait := t.Of.acquire(t.Principal)
	if wait == nil {
		t.taken = true
		return true
	}
	select {
	case <-wait:
		t.taken = true
		return true
	case <-done:
		t.Of.giveUp(t.Principal, wait)
		return false
	}
}

// Release gives up the turn if it has been acquired. The principal's next waiting message, if any,
// then gets the turn.
func (t *Turn) Release() {
	if t != nil && t.taken {
		t.taken = false
		t.Of.release(t.Principal)
	}
}

// acquire takes a turn and returns nil. If none is free, it returns a channel that is closed when
// the message gets its turn.
func (s *Turns) acquire(principal string) (wait chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[principal]
	if l == nil {
		l = &line{}
		s.by[principal] = l
	}
	if l.taken < s.each {
		l.taken++
		return nil
	}
	wait = make(chan struct{})
	l.waiting = append(l.waiting, wait)
	return wait
}

// release gives up a turn. If another message of the principal is waiting, it gets the turn.
func (s *Turns) release(principal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.by[principal]
	switch {
	case len(l.waiting) > 0:
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
	case l.taken == 1:
		delete(s.by, principal)
	default:
		l.taken--
	}
}

// giveUp removes a waiting message from the line, because its client has disconnected. If the
// message has just got its turn, giveUp releases the turn.
func (s *Turns) giveUp(principal string, wait chan struct{}) {
	s.mu.Lock()
	l := s.by[principal]
	if l != nil {
		if i := slices.Index(l.waiting, wait); i >= 0 {
			l.waiting = slices.Delete(l.waiting, i, i+1)
			s.mu.Unlock()
			return
		}
	}
	s.mu.Unlock()
	s.release(principal) // the message got its turn at the last moment
}
