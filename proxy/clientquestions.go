package proxy

import (
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxQuestions bounds the requests to one client that wait for an answer.
const maxQuestions = 256

// A question is a request of ours to a client (roots/list, sampling/createMessage,
// elicitation/create). Its id is one that nobody can guess, and only the client
// that it was sent to can answer it.
type question struct {
	answer   func(result, failure []byte) // one of them; called once, and must not wait
	progress func(params []byte)          // of the client; nil: it is not wanted
}

// questions are our requests to one client that wait for its answer. The zero
// value has none.
type questions struct {
	mu   sync.Mutex
	byID map[string]*question // by the key of the id
	gone bool                 // nobody answers any more
}

// expect adds a question under the key of its id. It reports false if too many
// wait, or the client is gone.
func (s *questions) expect(key string, q *question) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= maxQuestions || s.gone {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*question{}
	}
	s.byID[key] = q
	return true
}

// forget withdraws a question, and reports whether it was still open.
func (s *questions) forget(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.byID[key]
	delete(s.byID, key)
	return open
}

// find returns an open question; nil: there is none of that key.
func (s *questions) find(key string) *question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[key]
}

// response takes the JSON-RPC response of the client to a question. It drops one
// that nobody asked for.
func (s *questions) response(m wire.Message) {
	key := wire.IDKey(m.ID)
	s.mu.Lock()
	q := s.byID[key]
	delete(s.byID, key)
	s.mu.Unlock()
	if q != nil {
		q.answer(m.Result, m.Error)
	}
}

// end answers the open questions with an error: the client is gone.
func (s *questions) end() {
	s.mu.Lock()
	left := s.byID
	s.byID, s.gone = nil, true
	s.mu.Unlock()
	for _, q := range left {
		q.answer(nil, []byte(`{"code":-32603,"message":"the client is gone"}`))
	}
}
