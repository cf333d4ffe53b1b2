package session

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxClientRequests is the maximum number of the proxy's unanswered requests to one client.
const maxClientRequests = 256

// A ClientRequest is a request from the proxy to a client (roots/list, sampling/createMessage or
// elicitation/create). Its ID cannot be guessed, and only the client that received the request can
// answer it.
type ClientRequest struct {
	Answer   func(result, failure []byte) // called once with the client's response, either a result or an error object; must not block
	Progress func(params []byte)          // called with notifications/progress; if nil, the request has no progressToken

	id []byte // ID exactly as sent
	of *clientRequests
}

// Send sends the request on one of the client's streams.
func (q *ClientRequest) Send(to spec.Stream, method string, params []byte) {
	if q.Progress != nil {
		meta, _ := rawjson.Member(params, "_meta")
		params = wire.ReplaceMember(nil, params, "_meta", wire.ReplaceMember(nil, meta, "progressToken", q.id))
	}
	to.Send(wire.AppendRequest(nil, q.id, method, params))
}

// Withdraw stops waiting for the response. It returns true if no response has arrived; the caller
// must then send [ClientRequest.Cancelled] to the client.
func (q *ClientRequest) Withdraw() bool {
	s, key := q.of, wire.IDKey(q.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, open := s.byID[key]
	delete(s.byID, key)
	return open
}

// Cancelled returns a notifications/cancelled message for the request.
func (q *ClientRequest) Cancelled(reason string) []byte {
	params := rawjson.Object{}.Raw("requestId", q.id)
	if reason != "" {
		params = params.String("reason", reason)
	}
	return wire.AppendNotification(nil, "notifications/cancelled", params.Bytes())
}

// Ask sends a request to the client on one of its streams, and waits for the response, which is
// either a result or an error object.
func (s *clientRequests) Ask(ctx context.Context, to spec.Stream, method string, params []byte) (result, failure []byte, err error) {
	answered := make(chan struct{})
	q := &ClientRequest{Answer: func(r, f []byte) {
		result, failure = r, f
		close(answered)
	}}
	if !s.Open(q) {
		return nil, nil, errors.New("too many requests are waiting for the client")
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

// clientRequests holds the proxy's unanswered requests to one client. The zero value is ready to
// use. mu guards the fields below it.
type clientRequests struct {
	process string // identifies this process in request IDs; set before the first request

	mu   sync.Mutex
	byID map[string]*ClientRequest // keyed by wire.IDKey of the request ID
	gone bool                      // whether the client has disconnected and will not respond
}

// Open assigns an ID to a request, so that [clientRequests.Response] can find it. It returns false
// if too many requests are open or the client has disconnected.
func (s *clientRequests) Open(q *ClientRequest) bool {
	q.id, q.of = rawjson.AppendString(nil, lifetime.RandomID(s.prefix())), s
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

// Find returns the open request with the given ID, or nil. The argument is the ID in the form
// returned by [wire.IDKey].
func (s *clientRequests) Find(key string) *ClientRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[key]
}

const askedPrefix = "pg-"

func (s *clientRequests) prefix() string { return askedPrefix + s.process + "-" }

// AskedElsewhere reports whether a response with the given ID belongs to a request from another
// replica or an earlier process. The IDs of such requests have a different prefix.
func (s *clientRequests) AskedElsewhere(id []byte) bool {
	text, ok := rawjson.String(id)
	return ok && strings.HasPrefix(text, askedPrefix) && !strings.HasPrefix(text, s.prefix())
}

// Response passes a JSON-RPC response to the request that waits for it, if any.
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

// End completes all requests with an error, because the client has disconnected.
func (s *clientRequests) End() {
	s.mu.Lock()
	left := s.byID
	s.byID, s.gone = nil, true
	s.mu.Unlock()
	for _, q := range left {
		q.Answer(nil, []byte(`{"code":-32603,"message":"the client has disconnected"}`))
	}
}

// CheckCapability reports whether the client has declared the capability required by a server's
// request, and refuses the request if not. It also removes "task" from the params, because the
// proxy does not declare tasks.requests (2025-11-25) on behalf of clients.
func CheckCapability(p Peer, q *upstream.ServerRequest) bool {
	if !p.Answers(q.Method, q.Params) {
		RefuseRequest(q)
		return false
	}
	if _, asTask := rawjson.Member(q.Params, "task"); asTask {
		q.Params = wire.AppendWithout(nil, q.Params, "task")
	}
	return true
}

// RefuseRequest responds to a server's request with "method not found", because the client has not
// declared the capability.
func RefuseRequest(q *upstream.ServerRequest) {
	q.Refuse(wire.CodeMethodNotFound, "the client does not support "+q.Method)
}
