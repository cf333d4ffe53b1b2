package proxy

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/rev"
)

// sessions are the clients that are connected now, and the sessions that share
// the state of nets.
type sessions struct {
	now     func() time.Time
	begin   func(*session)               // before it is used
	leveled atomic.Bool                  // a client has sent logging/setLevel
	stdio   atomic.Pointer[lines.Writer] // of the client over stdio, if there is one
	streams events.Budget                // of what clients over HTTP can resume

	making sync.Mutex // held while the session of a principal is made

	mu         sync.Mutex
	connected  map[string]*client  // by id
	open       map[string]*session // by id
	principals map[string]*session // of clients whose requests carry no session
}

func newSessions(begin func(*session), now func() time.Time) *sessions {
	return &sessions{
		now: now, begin: begin,
		connected: map[string]*client{}, open: map[string]*session{}, principals: map[string]*session{},
	}
}

// newClient adds a client of a session.
func (s *sessions) newClient(transport, principal string, of *session, out stream) *client {
	now := s.now()
	c := &client{
		id: randomID(""), transport: transport, principal: principal, session: of, out: out, since: now, seen: now, leveled: &s.leveled,
		agent:   agent{rev: rev.Rev2025},
		streams: events.Logs{Budget: &s.streams, Principal: principal},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected[c.id] = c
	return c
}

// remove forgets a client, and its session unless that belongs to the principal.
func (s *sessions) remove(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connected, c.id)
	if c.session.by == "connection" {
		delete(s.open, c.session.id)
	}
}

// newSession opens a session of a connection or of a principal.
func (s *sessions) newSession(by, principal string) *session {
	made := &session{id: randomID("")[:12], principal: principal, by: by, since: s.now()}
	s.begin(made)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[made.id] = made
	return made
}

// of is the one session of a principal whose requests carry no session. Finding
// and making it is one step: two would be two budgets.
func (s *sessions) of(principal string) *session {
	if known := s.known(principal); known != nil {
		return known
	}
	s.making.Lock()
	defer s.making.Unlock()
	if known := s.known(principal); known != nil {
		return known
	}
	made := s.newSession("principal", principal)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.principals[principal] = made
	return made
}

func (s *sessions) known(principal string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.principals[principal]
}

// has reports whether a client is still connected.
func (s *sessions) has(c *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connected[c.id] == c
}

// clients lists those that are connected.
func (s *sessions) clients() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*client, 0, len(s.connected))
	for _, c := range s.connected {
		list = append(list, c)
	}
	return list
}

// all lists the sessions, oldest first.
func (s *sessions) all() []*session {
	s.mu.Lock()
	list := make([]*session, 0, len(s.open))
	for _, one := range s.open {
		list = append(list, one)
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b *session) int { return a.since.Compare(b.since) })
	return list
}

// find returns the session of an id.
func (s *sessions) find(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.open[id]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("no session %q", id)
}

// count returns how many clients and how many sessions there are.
func (s *sessions) count() (clients, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connected), len(s.open)
}

// countHTTP counts the sessions over HTTP of a principal, and of all.
func (s *sessions) countHTTP(principal string) (own, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.connected {
		if c.transport == "stdio" || c.session.by != "connection" {
			continue
		}
		all++
		if c.principal == principal {
			own++
		}
	}
	return own, all
}

// use returns the client that opened the session of that Mcp-Session-Id, and
// notes that it is in use; nil: the principal has no such session.
func (s *sessions) use(id, principal string) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.connected[id]
	if c == nil || c.transport != "http" || c.principal != principal || c.session.by != "connection" {
		return nil
	}
	c.seen = s.now()
	return c
}

// idle reports whether nobody has used a client for ttl. A busy one is in use now.
func (s *sessions) idle(c *client, busy bool, ttl time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if busy {
		c.seen = now
	}
	return !busy && now.Sub(c.seen) > ttl
}
