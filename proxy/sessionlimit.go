package proxy

import (
	"fmt"
	"sync"
)

// Defaults of [Access].
const (
	defaultSessions    = 1000
	defaultSessionsAll = 10_000
)

// sessionLimit bounds the sessions over HTTP that are open at a time: what a client
// can open by a request, it can open without end.
type sessionLimit struct {
	each, all int

	mu sync.Mutex // held from counting to opening
}

func newSessionLimit(a Access) *sessionLimit {
	s := &sessionLimit{each: a.MaxSessions, all: a.MaxAll}
	setDefault(&s.each, defaultSessions)
	setDefault(&s.all, max(defaultSessionsAll, s.each))
	return s
}

// open opens the session of a client, or says why it cannot.
func (s *sessionLimit) open(p *Proxy, principal, transport string, out stream) (c *client, refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, all := p.sessions.countHTTP(principal)
	const wayOut = "; end one that is not used any more (DELETE), or wait until idle ones have ended"
	switch {
	case own >= s.each:
		return nil, fmt.Sprintf("you have %d open sessions, and no more are allowed (listen.maxSessions)", own) + wayOut
	case all >= s.all:
		return nil, fmt.Sprintf("this proxy has %d open sessions, and no more are allowed (listen.maxSessionsTotal)", all) + wayOut
	}
	return p.sessions.newClient(transport, principal, p.sessions.newSession("connection", principal), out), ""
}
