package front

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// Defaults of [Access].
const (
	defaultSessions    = 1000
	defaultSessionsAll = 10_000
)

// sessionLimit bounds the sessions over HTTP that are open at a time, since a client can
// open a session by one request.
type sessionLimit struct {
	each, all int

	mu sync.Mutex // held from counting to opening
}

func newSessionLimit(a Access) *sessionLimit {
	s := &sessionLimit{each: a.MaxSessions, all: a.MaxAll}
	s.each = cmp.Or(s.each, defaultSessions)
	s.all = cmp.Or(s.all, max(defaultSessionsAll, s.each))
	return s
}

// open opens a session with its client, or returns why the limit forbids it.
func (s *sessionLimit) open(f *Front, principal, transport string, out spec.Stream) (c *session.Client, refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, all := f.Sessions.CountHTTP(principal)
	const wayOut = "; end one that is not used any more (DELETE), or wait until idle ones have ended"
	switch {
	case own >= s.each:
		return nil, fmt.Sprintf("you have %d open sessions, and no more are allowed (listen.maxSessions)", own) + wayOut
	case all >= s.all:
		return nil, fmt.Sprintf("this proxy has %d open sessions, and no more are allowed (listen.maxSessionsTotal)", all) + wayOut
	}
	return f.Sessions.NewClient(transport, principal, f.Sessions.NewSession("connection", principal), out), ""
}
