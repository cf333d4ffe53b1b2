package proxy

import (
	"context"
	"errors"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxQuestions bounds the requests to one client that wait for an answer.
const maxQuestions = 256

// A question is a request of ours to a client (roots/list, sampling/createMessage,
// elicitation/create). Its id is one that nobody can guess, and only the client
// that it was sent to can answer it.
type question struct {
	answer   func(result, failure []byte) // one of them; called once, and must not wait
	progress func(params []byte)          // takes notifications/progress; nil: they are not wanted

	id []byte // on the wire
	of *questions
}

// send sends the request on a stream of the client.
func (q *question) send(to stream, method string, params []byte) {
	if q.progress != nil {
		meta, _ := rawjson.Member(params, "_meta")
		params = wire.ReplaceMember(nil, params, "_meta", wire.ReplaceMember(nil, meta, "progressToken", q.id))
	}
	to.Send(wire.AppendRequest(nil, q.id, method, params))
}

// withdraw takes the question back, and reports whether it was still open: then the
// client has to be told by [question.cancelled].
func (q *question) withdraw() bool {
	s, key := q.of, wire.IDKey(q.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.byID[key]
	delete(s.byID, key)
	return open
}

// cancelled returns the notifications/cancelled of the request.
func (q *question) cancelled(reason string) []byte {
	params := append([]byte(`{"requestId":`), q.id...)
	if reason != "" {
		params = rawjson.AppendString(append(params, `,"reason":`...), reason)
	}
	return wire.AppendNotification(nil, "notifications/cancelled", append(params, '}'))
}

// ask sends a request to the client on one of its streams, and waits for the answer:
// a result or an error object.
func (s *questions) ask(ctx context.Context, to stream, method string, params []byte) (result, failure []byte, err error) {
	answered := make(chan struct{})
	q := &question{answer: func(r, f []byte) {
		result, failure = r, f
		close(answered)
	}}
	if !s.open(q) {
		return nil, nil, errors.New("too many requests wait for the client")
	}
	q.send(to, method, params)
	select {
	case <-answered:
		return result, failure, nil
	case <-ctx.Done():
	}
	if q.withdraw() {
		to.Send(q.cancelled(""))
	} else {
		<-answered
	}
	return nil, nil, context.Cause(ctx)
}

// questions are our requests to one client that wait for its answer. The zero
// value has none.
type questions struct {
	mu   sync.Mutex
	byID map[string]*question // by the key of the id
	gone bool                 // nobody answers any more
}

// open gives a question its id, under which the client can answer it from now on.
// It reports false if too many wait, or the client is gone.
func (s *questions) open(q *question) bool {
	q.id, q.of = rawjson.AppendString(nil, randomID("pg-")), s
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= maxQuestions || s.gone {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*question{}
	}
	s.byID[wire.IDKey(q.id)] = q
	return true
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
