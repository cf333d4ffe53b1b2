package session

import (
	"context"
	"errors"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxQuestions bounds the requests to one client that wait for an answer.
const maxClientRequests = 256

// A Question is a request of ours to a client (roots/list, sampling/createMessage,
// elicitation/create). Its id is one that nobody can guess, and only the client
// that it was sent to can answer it.
type ClientRequest struct {
	Answer   func(result, failure []byte) // one of them; called once, and must not wait
	Progress func(params []byte)          // takes notifications/progress; nil: they are not wanted

	id []byte // on the wire
	of *clientRequests
}

// Send sends the request on a stream of the client.
func (q *ClientRequest) Send(to spec.Stream, method string, params []byte) {
	if q.Progress != nil {
		meta, _ := rawjson.Member(params, "_meta")
		params = wire.ReplaceMember(nil, params, "_meta", wire.ReplaceMember(nil, meta, "progressToken", q.id))
	}
	to.Send(wire.AppendRequest(nil, q.id, method, params))
}

// Withdraw takes the question back, and reports whether it was still open: then the
// client has to be told by [question.cancelled].
func (q *ClientRequest) Withdraw() bool {
	s, key := q.of, wire.IDKey(q.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.byID[key]
	delete(s.byID, key)
	return open
}

// Cancelled returns the notifications/cancelled of the request.
func (q *ClientRequest) Cancelled(reason string) []byte {
	params := append([]byte(`{"requestId":`), q.id...)
	if reason != "" {
		params = rawjson.AppendString(append(params, `,"reason":`...), reason)
	}
	return wire.AppendNotification(nil, "notifications/cancelled", append(params, '}'))
}

// Ask sends a request to the client on one of its streams, and waits for the answer:
// a result or an error object.
func (s *clientRequests) Ask(ctx context.Context, to spec.Stream, method string, params []byte) (result, failure []byte, err error) {
	answered := make(chan struct{})
	q := &ClientRequest{Answer: func(r, f []byte) {
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
type clientRequests struct {
	mu   sync.Mutex
	byID map[string]*ClientRequest // by the key of the id
	gone bool                      // nobody answers any more
}

// Open gives a question its id, under which the client can answer it from now on.
// It reports false if too many wait, or the client is gone.
func (s *clientRequests) Open(q *ClientRequest) bool {
	q.id, q.of = rawjson.AppendString(nil, lifetime.RandomID("pg-")), s
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byID) >= maxClientRequests || s.gone {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*ClientRequest{}
	}
	s.byID[wire.IDKey(q.id)] = q
	return true
}

// Find returns an open question; nil: there is none of that key.
func (s *clientRequests) Find(key string) *ClientRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[key]
}

// Response takes the JSON-RPC response of the client to a question. It drops one
// that nobody asked for.
func (s *clientRequests) Response(m wire.Message) {
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
func (s *clientRequests) End() {
	s.mu.Lock()
	left := s.byID
	s.byID, s.gone = nil, true
	s.mu.Unlock()
	for _, q := range left {
		q.Answer(nil, []byte(`{"code":-32603,"message":"the client is gone"}`))
	}
}

// MayAsk reports whether q can be put to the client a, and else refuses it.
// A member task of the params is left out: clients are not offered as receivers
// of tasks (capability tasks.requests of 2025-11-25), and a receiver that is not
// ignores it.
func MayAsk(p Peer, q *upstream.ServerRequest) bool {
	if !p.Answers(q.Method, q.Params) {
		RefuseRequest(q)
		return false
	}
	if _, asTask := rawjson.Member(q.Params, "task"); asTask {
		q.Params = wire.AppendWithout(nil, q.Params, "task")
	}
	return true
}

// RefuseRequest answers for a client that cannot.
func RefuseRequest(q *upstream.ServerRequest) {
	q.Refuse(spec.CodeNoMethod, "the client does not support "+q.Method)
}
