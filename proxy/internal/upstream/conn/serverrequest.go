package conn

import (
	"bytes"
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxServerRequests bounds the requests of one server that wait for an answer.
const maxServerRequests = 256

// A ServerRequest is a JSON-RPC request of a server of the 2025 revisions to its
// client: elicitation/create, sampling/createMessage or roots/list. One answer is
// sent, the first; whoever takes a ServerRequest has to give one.
type ServerRequest struct {
	Method string
	Params []byte // nil: none

	key  string // of its id
	id   []byte
	send func(answer []byte)
	from *ServerRequests

	ctx    context.Context //nolint:containedctx // ends with the wish for an answer
	cancel context.CancelCauseFunc
	over   func() // guarded by the lock of from; nil: nobody wants to know
}

// A Withdrawn is the cause of the end of a [ServerRequest] that the server has
// cancelled: the reason that it gave, which may be empty.
type Withdrawn string

func (w Withdrawn) Error() string { return string(w) }

// Context ends when no answer is wanted any more: one was given, the server
// has cancelled the request, or the connection is over.
func (q *ServerRequest) Context() context.Context { return q.ctx }

// OnOver has f called, once, when [ServerRequest.Context] has ended and before anything
// that follows from that: before the answer is sent, and before what the server
// says after it cancelled. f must not wait. There is one f.
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

// ends is called by whoever took q out of the requests that wait.
func (q *ServerRequest) ends(reason error) {
	q.cancel(reason)
	if q.over != nil {
		q.over()
	}
}

// Result answers with a result, raw JSON.
func (q *ServerRequest) Result(result []byte) {
	q.answer(func() []byte { return wire.AppendResult(nil, q.id, result) })
}

// Fail answers with an error, raw JSON.
func (q *ServerRequest) Fail(failure []byte) {
	q.answer(func() []byte { return append(append(wire.ErrorHead(q.id), failure...), wire.Tail...) })
}

// Refuse answers with an error of ours.
func (q *ServerRequest) Refuse(code int, message string) {
	q.answer(func() []byte { return wire.AppendError(nil, q.id, code, message, nil) })
}

func (q *ServerRequest) answer(build func() []byte) {
	if q.from.end(q, nil) {
		q.send(build())
	}
}

// ServerRequests are the requests of one server that wait for an answer.
type ServerRequests struct {
	mu     sync.Mutex
	closed bool
	byID   map[string]*ServerRequest
}

// take makes a ServerRequest of a message; nil: it is one too many,
// or its id is taken.
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

// end takes q out of the requests that wait, and reports whether it was there.
func (t *ServerRequests) end(q *ServerRequest, reason error) bool {
	t.mu.Lock()
	waits := t.byID[q.key] == q
	if waits {
		delete(t.byID, q.key)
	}
	t.mu.Unlock()
	if waits {
		q.ends(reason)
	}
	return waits
}

// Cancelled acts on notifications/cancelled of the server.
func (t *ServerRequests) Cancelled(params []byte) {
	id, _ := rawjson.Member(params, "requestId")
	t.mu.Lock()
	q := t.byID[wire.IDKey(id)]
	t.mu.Unlock()
	if q != nil {
		reason, _ := rawjson.Member(params, "reason")
		text, _ := rawjson.String(reason)
		t.end(q, Withdrawn(text))
	}
}

// Close ends all of them; no answer can be sent any more.
func (t *ServerRequests) Close() {
	t.mu.Lock()
	t.closed = true
	left := t.byID
	t.byID = nil
	t.mu.Unlock()
	for _, q := range left {
		q.ends(nil)
	}
}
