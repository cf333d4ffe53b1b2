package proxy

import (
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// elicitationComplete is what an upstream of 2025-11-25 says once a person
// has done what it sent them to a URL for.
const elicitationComplete = "notifications/elicitation/complete"

// maxURLElicitations bounds the visits of one upstream whose end is not known; those
// that began first are forgotten first.
const maxURLElicitations = 256

// urlElicitations says which client was told to send its person to a URL, by the id
// that the upstream gave the visit: only that client hears of the end of it.
type urlElicitations struct {
	mu      sync.Mutex
	clients map[string]*client
	order   []string
}

func (s *urlElicitations) note(id string, c *client) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients == nil {
		s.clients = map[string]*client{}
	}
	if s.clients[id] == nil {
		s.order = append(s.order, id)
	}
	s.clients[id] = c
	if len(s.order) > maxURLElicitations {
		delete(s.clients, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *urlElicitations) find(id string) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[id]
}

// sends notes a question that sends a person away.
func (s *urlElicitations) sends(c *client, method string, params []byte) {
	if method == "elicitation/create" && member(params, "mode") == "url" {
		s.note(member(params, "elicitationId"), c)
	}
}

// withElicitationID is the params of what an upstream of 2026-07-28 asks of a client
// of 2025-11-25, in which a visit to a URL has to have an id. No upstream will say
// by it that the visit is over, which none ever has to.
func withElicitationID(method string, params []byte) []byte {
	if method != "elicitation/create" || member(params, "mode") != "url" {
		return params
	}
	return wire.AppendStamped(nil, params, rawjson.AppendString([]byte(`"elicitationId":`), randomID("")))
}

// demands notes an error that wants a person to visit URLs first.
func (s *urlElicitations) demands(c *client, failure []byte) {
	if code, _ := rawjson.Member(failure, "code"); string(code) != "-32042" {
		return
	}
	data, _ := rawjson.Member(failure, "data")
	list, _ := rawjson.Member(data, "elicitations")
	n := 0
	rawjson.Elements(list, func(visit []byte, _ int) bool {
		s.note(member(visit, "elicitationId"), c)
		n++
		return n < maxURLElicitations
	})
}

// returned tells a client with a handshake that a visit is over.
func (p *Proxy) returned(u *upstreamState, params []byte) {
	c := p.urlElicitations.at(u).find(member(params, "elicitationId"))
	if c != nil && c.out != nil && p.sessions.has(c) {
		c.out.Send(wire.AppendNotification(nil, elicitationComplete, params))
	}
}
