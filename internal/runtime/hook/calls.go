package hook

import (
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// maxOpen is the maximum number of open calls per session. A call is open until its end is
// reported. If a session exceeds the limit, its oldest open call is removed. If the removed call
// was admitted, its outcome is recorded as unknown.
const maxOpen = 1000

// Limits on the number of sessions.
const (
	manySessions = 500
	maxSessions  = 10_000
	maxOwn       = 1000           // maximum number of sessions per principal; without it, a principal could make up any number of sessions
	idleSession  = 24 * time.Hour // sessions without an event for this long are removed if a session begins when there are manySessions or more
)

// call is an agent's call, as announced by a hook event.
type call struct {
	key            string // the agent's ID for the call or, if the agent assigns none, a digest of the call
	digest         string // digest of the tool name and the arguments that the gate decided on
	sent           string // digest of the tool name and of the arguments sent by the agent
	turn           string
	ticket         *admission.Ticket // nil until the call is admitted
	settledUnknown bool              // whether the outcome has been recorded as unknown; a later event can still report the actual one

	decided chan struct{} // closed when reply is set
	reply   Reply
}

// calls holds an agent session's calls whose ends have not been reported, oldest first. The zero
// value is ready to use.
type calls struct {
	mu    sync.Mutex
	open  []*call // several calls can have the same key if the agent assigns no IDs
	ended bool

	used time.Time // time of the last use; guarded by Gate.mu
	own  bool      // whether the proxy session serves only this agent session
}

// add adds a call that an event has announced. It is called before the gate decides on the call. If
// unique is true and there is already a call with the same key, add returns that call instead, and
// reports whether its outcome has been recorded as unknown.
//
// add also returns the admitted calls whose outcome the caller must now record as unknown. An
// admitted call is returned if it might belong to a different turn than the new call. If too many
// calls are open, the oldest call is returned too.
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

// admit stores the ticket of an admitted call, which is needed to report the call's outcome. It
// returns false if the session has ended, or if the call was removed because too many calls were
// open. The caller must then record the call's outcome as unknown.
func (s *calls) admit(c *call, t *admission.Ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ticket = t
	return !s.ended && slices.Contains(s.open, c)
}

// forget removes a call that will not be made.
func (s *calls) forget(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(o *call) bool { return o == c })
}

// takeAdmitted removes and returns the oldest admitted call with the given key, or nil if no
// admitted call has the key. It is called when the end of the call is reported.
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

// interrupt ends the agent's turn. It returns the calls whose outcome must now be recorded as
// unknown.
func (s *calls) interrupt() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.markLate(func(*call) bool { return true })
}

// end marks the session as ended. It returns the calls whose outcome must now be recorded as
// unknown.
func (s *calls) end() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.markLate(func(*call) bool { return true })
}

// markLate sets settledUnknown on the admitted calls that match the predicate. It returns the calls
// that did not have it set before. The caller must hold mu.
func (s *calls) markLate(which func(*call) bool) (late []*call) {
	for _, c := range s.open {
		if c.ticket != nil && !c.settledUnknown && which(c) {
			c.settledUnknown = true
			late = append(late, c)
		}
	}
	return late
}
