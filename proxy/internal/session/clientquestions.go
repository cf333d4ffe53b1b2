package session

import (
	"context"
	"errors"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxQuestions bounds the requests to one client that wait for an answer.
const maxQuestions = 256

// A Question is a request of ours to a client (roots/list, sampling/createMessage,
// elicitation/create). Its id is one that nobody can guess, and only the client
// that it was sent to can answer it.
type Question struct {
	Answer   func(result, failure []byte) // one of them; called once, and must not wait
	Progress func(params []byte)          // takes notifications/progress; nil: they are not wanted

	id []byte // on the wire
	of *questions
}

// Send sends the request on a stream of the client.
func (q *Question) Send(to spec.Stream, method string, params []byte) {
	if q.Progress != nil {
		meta, _ := rawjson.Member(params, "_meta")
		params = wire.ReplaceMember(nil, params, "_meta", wire.ReplaceMember(nil, meta, "progressToken", q.id))
	}
	to.Send(wire.AppendRequest(nil, q.id, method, params))
}

// Withdraw takes the question back, and reports whether it was still open: then the
// client has to be told by [question.cancelled].
func (q *Question) Withdraw() bool {
	s, key := q.of, wire.IDKey(q.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.byID[key]
	delete(s.byID, key)
	return open
}

// Cancelled returns the notifications/cancelled of the request.
func (q *Question) Cancelled(reason string) []byte {
	params := append([]byte(`{"requestId":`), q.id...)
	if reason != "" {
		params = rawjson.AppendString(append(params, `,"reason":`...), reason)
	}
	return wire.AppendNotification(nil, "notifications/cancelled", append(params, '}'))
}

// Ask sends a request to the client on one of its streams, and waits for the answer:
// a result or an error object.
func (s *questions) Ask(ctx context.Context, to spec.Stream, method string, params []byte) (result, failure []byte, err error) {
	answered := make(chan struct{})
	q := &Question{Answer: func(r, f []byte) {
		result, failure = r, f
		close(answered)
	}}
	if !s.Open(q) {
		return nil, nil, errors.New("too many requests wait for the client")
	}
	q.Send(to, method, params)
	select {
	case <-answered:
		return result, failure, nil
	case <-ctx.Done():
	}
	if q.Withdraw() {
		to.Send(q.Cancelled(""))
	} else {
		<-answered
	}
	return nil, nil, context.Cause(ctx)
}

// questions are our requests to one client that wait for its answer. The zero
// value has none.
type questions struct {
	mu   sync.Mutex
	byID map[string]*Question // by the key of the id
	gone bool                 // nobody answers any more
}

// Open gives a question its id, under which the client can answer it from now on.
// It reports false if too many wait, or the client is gone.
func (s *questions) Open(q *Question) bool {
	q.id, q.of = rawjson.AppendString(nil, lifetime.RandomID("pg-")), s
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= maxQuestions || s.gone {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*Question{}
	}
	s.byID[wire.IDKey(q.id)] = q
	return true
}

// Find returns an open question; nil: there is none of that key.
func (s *questions) Find(key string) *Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[key]
}

// Response takes the JSON-RPC response of the client to a question. It drops one
// that nobody asked for.
func (s *questions) Response(m wire.Message) {
	key := wire.IDKey(m.ID)
	s.mu.Lock()
	q := s.byID[key]
	delete(s.byID, key)
	s.mu.Unlock()
	if q != nil {
		q.Answer(m.Result, m.Error)
	}
}

// End answers the open questions with an error: the client is gone.
func (s *questions) End() {
	s.mu.Lock()
	left := s.byID
	s.byID, s.gone = nil, true
	s.mu.Unlock()
	for _, q := range left {
		q.Answer(nil, []byte(`{"code":-32603,"message":"the client is gone"}`))
	}
}
