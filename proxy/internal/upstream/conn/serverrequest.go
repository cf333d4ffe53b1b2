package conn

import (
	"bytes"
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxServerRequests is the maximum number of a server's unanswered requests.
const maxServerRequests = 256

// A ServerRequest is a JSON-RPC request to the client from a server that uses [rev.Rev2025]:
// elicitation/create, sampling/createMessage or roots/list. The receiver must respond to it; only
// the first response is sent.
type ServerRequest struct {
	Method string
	Params []byte // nil if absent

	key  string // the request's ID in a form that can be compared
	id   []byte
	send func(answer []byte)
	from *ServerRequests

	ctx    context.Context //nolint:containedctx // done when the answer is no longer needed
	cancel context.CancelCauseFunc
	over   func() // set by OnOver, or nil; guarded by ServerRequests.mu
}

// A Withdrawn error is the cause of a [ServerRequest.Context] if the server canceled the request.
// It holds the server's reason, which may be empty.
type Withdrawn string

func (w Withdrawn) Error() string { return string(w) }

// Context returns a context that is done when a response is no longer needed. This is the case when
// a response has been sent, the server has canceled the request, or the connection has ended.
func (q *ServerRequest) Context() context.Context { return q.ctx }

// OnOver sets a function to call once, when [ServerRequest.Context] is done. It replaces any
// function set before. The function is called before the response is sent and before later messages
// from the server are handled. It must not block.
func (q *ServerRequest) OnOver(f func()) {
	q.from.mu.Lock()
	waits := q.from.byID[q.key] == q
	if waits {
		q.over = f
	}
	q.from.mu.Unlock()
	if !waits {
		f()
	}
}

// finish cancels the request's context and calls the function set by OnOver. The caller must first
// remove the request from the open requests.
func (q *ServerRequest) finish(reason error) {
	q.cancel(reason)
	if q.over != nil {
		q.over()
	}
}

// Result responds to the request with a result, given as raw JSON.
func (q *ServerRequest) Result(result []byte) {
	q.answer(func() []byte { return wire.AppendResult(nil, q.id, result) })
}

// Fail responds to the request with an error object, given as raw JSON.
func (q *ServerRequest) Fail(failure []byte) {
	q.answer(func() []byte { return append(append(wire.ErrorHead(q.id), failure...), wire.Tail...) })
}

// Refuse responds to the request with an error from the proxy itself.
func (q *ServerRequest) Refuse(code int, message string) {
	q.answer(func() []byte { return wire.AppendError(nil, q.id, code, message, nil) })
}

func (q *ServerRequest) answer(build func() []byte) {
	if q.from.end(q, nil) {
		q.send(build())
	}
}

// ServerRequests holds a server's unanswered requests. It is safe for concurrent use.
type ServerRequests struct {
	mu     sync.Mutex
	closed bool
	byID   map[string]*ServerRequest
}

// take returns a ServerRequest for the message, or nil if too many requests are open, the ID is
// already in use, or the connection has ended.
func (t *ServerRequests) take(m wire.Message, send func([]byte)) *ServerRequest {
	q := &ServerRequest{
		Method: m.Method, Params: bytes.Clone(m.Params),
		key: wire.IDKey(m.ID), id: bytes.Clone(m.ID), send: send, from: t,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.byID) >= maxServerRequests || t.byID[q.key] != nil {
		return nil
	}
	if t.byID == nil {
		t.byID = map[string]*ServerRequest{}
	}
	t.byID[q.key] = q
	q.ctx, q.cancel = context.WithCancelCause(context.Background())
	return q
}

// end removes an open request and calls its finish method. It returns false if the request was not
// open.
func (t *ServerRequests) end(q *ServerRequest, reason error) bool {
	t.mu.Lock()
	waits := t.byID[q.key] == q
	if waits {
		delete(t.byID, q.key)
	}
	t.mu.Unlock()
	if waits {
		q.finish(reason)
	}
	return waits
}

// Cancelled handles a notifications/cancelled message from the server.
func (t *ServerRequests) Cancelled(params []byte) {
	id, _ := rawjson.Member(params, "requestId")
	t.mu.Lock()
	q := t.byID[wire.IDKey(id)]
	t.mu.Unlock()
	if q != nil {
		t.end(q, Withdrawn(rawjson.StringAt(params, "reason")))
	}
}

// Close ends all requests, because no more responses can be sent.
func (t *ServerRequests) Close() {
	t.mu.Lock()
	t.closed = true
	left := t.byID
	t.byID = nil
	t.mu.Unlock()
	for _, q := range left {
		q.finish(nil)
	}
}
