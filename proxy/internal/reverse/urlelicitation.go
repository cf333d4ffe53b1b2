package reverse

import (
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxURLElicitations is the maximum number of elicitations that are remembered for each upstream.
// The oldest are forgotten first.
const maxURLElicitations = 256

// URLElicitations remembers which client has received which URL-mode elicitation of a server, by
// elicitationId, because only that client must be notified when the elicitation is complete. It is
// safe for concurrent use.
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

// RecordRequest remembers an elicitation/create request in URL mode.
func (s *URLElicitations) RecordRequest(c *session.Client, method string, params []byte) {
	if method == "elicitation/create" && spec.Member(params, "mode") == "url" {
		s.note(spec.Member(params, "elicitationId"), c)
	}
}

// WithElicitationID returns the params of a request from a server that uses revision 2026-07-28,
// for a client that uses revision 2025-11-25. Such a client requires an elicitationId in URL mode.
// No completion is ever sent for this ID, and none is required.
func WithElicitationID(method string, params []byte) []byte {
	if method != "elicitation/create" || spec.Member(params, "mode") != "url" {
		return params
	}
	return wire.AppendStamped(nil, params, rawjson.Object{}.String("elicitationId", lifetime.RandomID("")).Bytes())
}

// RecordError remembers the elicitations in an error of type URLElicitationRequired (-32042).
func (s *URLElicitations) RecordError(c *session.Client, failure []byte) {
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
