package reverse

import (
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxURLElicitations bounds the visits of one upstream whose end is not known; those
// that began first are forgotten first.
const maxURLElicitations = 256

// URLElicitations says which client was told to send its person to a URL, by the id
// that the upstream gave the visit: only that client hears of the end of it.
type URLElicitations struct {
	mu      sync.Mutex
	clients map[string]*session.Client
	order   []string
}

func (s *URLElicitations) note(id string, c *session.Client) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients == nil {
		s.clients = map[string]*session.Client{}
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

func (s *URLElicitations) find(id string) *session.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[id]
}

// Sends notes a question that sends a person away.
func (s *URLElicitations) Sends(c *session.Client, method string, params []byte) {
	if method == "elicitation/create" && spec.Member(params, "mode") == "url" {
		s.note(spec.Member(params, "elicitationId"), c)
	}
}

// WithElicitationID is the params of what an upstream of 2026-07-28 asks of a client
// of 2025-11-25, in which a visit to a URL has to have an id. No upstream will say
// by it that the visit is over, which none ever has to.
func WithElicitationID(method string, params []byte) []byte {
	if method != "elicitation/create" || spec.Member(params, "mode") != "url" {
		return params
	}
	return wire.AppendStamped(nil, params, rawjson.AppendString([]byte(`"elicitationId":`), lifetime.RandomID("")))
}

// Demands notes an error that wants a person to visit URLs first.
func (s *URLElicitations) Demands(c *session.Client, failure []byte) {
	if code, _ := rawjson.Member(failure, "code"); string(code) != "-32042" {
		return
	}
	data, _ := rawjson.Member(failure, "data")
	list, _ := rawjson.Member(data, "elicitations")
	n := 0
	rawjson.Elements(list, func(visit []byte, _ int) bool {
		s.note(spec.Member(visit, "elicitationId"), c)
		n++
		return n < maxURLElicitations
	})
}

// Returned tells a client with a handshake that a visit is over.
func (p *Reverse) Returned(u *pool.Server, params []byte) {
	c := p.URLElicitations.At(u).find(spec.Member(params, "elicitationId"))
	if c != nil && c.Out != nil && p.Sessions.Has(c) {
		c.Out.Send(wire.AppendNotification(nil, spec.ElicitationComplete, params))
	}
}
