package conn

import (
	"bytes"
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxInquiries bounds the requests of one server that wait for an answer.
const maxInquiries = 256

// An Inquiry is a request of a legacy server to the client behind us. Exactly
// one of its answers is sent, the first; whoever takes one has to give one.
type Inquiry struct {
	Method string
	Params []byte // nil: none

	key  string // of its id
	id   []byte
	send func(answer []byte)
	from *Inquiries

	ctx    context.Context //nolint:containedctx // ends with the wish for an answer
	cancel context.CancelCauseFunc
	over   func() // guarded by the lock of from; nil: nobody wants to know
}

// A Withdrawn is the cause of the end of an [Inquiry] that the server has
// cancelled: the reason that it gave, which may be empty.
type Withdrawn string

func (w Withdrawn) Error() string { return string(w) }

// Context ends when no answer is wanted any more: one was given, the server
// has cancelled the request, or the connection is over.
func (q *Inquiry) Context() context.Context { return q.ctx }

// OnOver has f called, once, when [Inquiry.Context] has ended and before anything
// that follows from that: before the answer is sent, and before what the server
// says after it cancelled. f must not wait. There is one f.
func (q *Inquiry) OnOver(f func()) {
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

// ends is called by whoever took q out of the inquiries that wait.
func (q *Inquiry) ends(reason error) {
	q.cancel(reason)
	if q.over != nil {
		q.over()
	}
}

// Result answers with a result, raw JSON.
func (q *Inquiry) Result(result []byte) {
	q.answer(func() []byte { return wire.AppendResult(nil, q.id, result) })
}

// Fail answers with an error, raw JSON.
func (q *Inquiry) Fail(failure []byte) {
	q.answer(func() []byte { return append(append(wire.ErrorHead(q.id), failure...), wire.Tail...) })
}

// Refuse answers with an error of ours.
func (q *Inquiry) Refuse(code int, message string) {
	q.answer(func() []byte { return wire.AppendError(nil, q.id, code, message, nil) })
}

func (q *Inquiry) answer(build func() []byte) {
	if q.from.remove(q) {
		q.send(build())
	}
}

// Inquiries are the requests of one server that wait for an answer.
type Inquiries struct {
	mu     sync.Mutex
	closed bool
	byID   map[string]*Inquiry
}

// take makes an inquiry of a request of the server; nil: it is one too many,
// or its id is taken.
func (t *Inquiries) take(m wire.Message, send func([]byte)) *Inquiry {
	q := &Inquiry{
		Method: m.Method, Params: bytes.Clone(m.Params),
		key: wire.IDKey(m.ID), id: bytes.Clone(m.ID), send: send, from: t,
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.byID) >= maxInquiries || t.byID[q.key] != nil {
		return nil
	}
	if t.byID == nil {
		t.byID = map[string]*Inquiry{}
	}
	t.byID[q.key] = q
	q.ctx, q.cancel = context.WithCancelCause(context.Background())
	return q
}

// remove reports whether q was still waiting.
func (t *Inquiries) remove(q *Inquiry) bool { return t.end(q, nil) }

// end is remove for a reason.
func (t *Inquiries) end(q *Inquiry, reason error) bool {
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
func (t *Inquiries) Cancelled(params []byte) {
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
func (t *Inquiries) Close() {
	t.mu.Lock()
	t.closed = true
	left := t.byID
	t.byID = nil
	t.mu.Unlock()
	for _, q := range left {
		q.ends(nil)
	}
}

// relayable reports whether a client may have something to say to a request
// with that method. Ping lives, and nothing else is offered.
func relayable(method string) bool {
	switch method {
	case "sampling/createMessage", "elicitation/create", "roots/list":
		return true
	}
	return false
}

// Inquire hands a request of the server on, to the exchange that it belongs
// to or else to the user of the upstream. It reports false where nobody
// takes it.
func (u *Host) Inquire(x *Exchange, t *Inquiries, m wire.Message, send func([]byte)) bool {
	if !relayable(m.Method) || x.asks() == nil && u.Options.OnInquiry == nil {
		return false
	}
	q := t.take(m, send)
	if q == nil {
		return false
	}
	if ask := x.asks(); ask != nil {
		ask(q)
	} else {
		u.Options.OnInquiry(q)
	}
	return true
}

// asks is who takes the inquiries that belong to x; nil: nobody.
func (x *Exchange) asks() func(*Inquiry) {
	if x == nil || x.Answered.Load() {
		return nil
	}
	return x.Req.Ask
}
