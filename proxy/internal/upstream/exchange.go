package upstream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Request is one JSON-RPC request to an upstream.
type Request struct {
	Method string
	Params []byte // a JSON object, or nil; not kept after the request is on its way
	Name   string // tool, prompt or resource that is meant; the Mcp-Name header of revision 2026-07-28
	Token  int64  // the progress token in Params, of NewToken; 0: none

	// Notify gets the notifications that belong to this request, in order and
	// before its reply: progress with its token, and over HTTP all that comes
	// on the request's own stream. It runs on the connection's reader and must
	// not wait. nil: they go to Options.OnNotification.
	Notify func(method string, params []byte)

	// Ask gets the requests of a legacy server that belong to this request, as
	// those do that come on its own stream over HTTP. It must not wait. nil:
	// they go to Options.OnInquiry.
	Ask func(*Inquiry)

	// Interrupted is told, before it is taken up again, that a legacy server
	// has ended the stream of the request over HTTP, and how long it wants us to
	// wait; 0: it does not say.
	Interrupted func(retry time.Duration)

	// Deliver, if set, gets the reply instead of Done. It runs on the
	// connection's reader, or on the caller of Send, and must not wait.
	Deliver func(Reply)

	// Begin, if set, gets the exchange before anything is sent. If it returns
	// false nothing is, and the reply is [ErrNotSent].
	Begin func(*Exchange) bool

	// Here says that the caller waits anyway: over HTTP the request is made on
	// its goroutine, and Send returns when the reply has been delivered, or
	// soon after Exchange.Leave was called.
	Here bool

	session *session          // of a handshake over HTTP
	marked  map[string]string // arguments that go into headers as well
}

// A Reply is the end of an exchange. One of its fields is set.
type Reply struct {
	Result []byte // raw JSON of the member
	Error  []byte // raw JSON of the member: the server's own refusal
	Err    error  // the transport's: ErrNotSent, *Lost, *StatusError

	rest func() Reply // it is still to come, and nobody waits for it here
}

// An Exchange is a request and the reply that it will get.
type Exchange struct {
	req  Request
	id   int64
	conn conn // nil: it was never sent
	done chan Reply

	position int64              // stdio: of its first byte in the stream; guarded by the pipe
	body     body               // HTTP: what is sent
	ctx      context.Context    // HTTP: of its round trip
	abort    context.CancelFunc // HTTP

	left atomic.Bool // the caller of Send is to be let go

	mu       sync.Mutex // held while Notify runs
	answered atomic.Bool
}

func newExchange(r Request, id int64) *Exchange {
	x := &Exchange{req: r, id: id, position: nowhere}
	if r.Deliver == nil {
		x.done = make(chan Reply, 1)
	}
	return x
}

// A lasting connection makes a round trip for each exchange, which ends with lifetime.
type lasting interface{ lifetime() context.Context }

// use sets the connection that x will go out on.
func (x *Exchange) use(c conn) {
	x.conn = c
	if l, ok := c.(lasting); ok {
		x.ctx, x.abort = context.WithCancel(l.lifetime())
	}
}

// Done gets exactly one reply, however late, and may be left unread. It is nil
// if the request has a Deliver.
func (x *Exchange) Done() <-chan Reply { return x.done }

// Cancel tells the upstream that the answer is not wanted any more. It does
// not wait, and ends nothing here: the reply still comes, from the server or
// as the loss of the connection.
func (x *Exchange) Cancel(reason string) {
	if x.conn != nil && !x.answered.Load() {
		x.conn.cancel(x, reason)
	}
}

// Leave lets the caller of Send go, where it waits: what is left of the
// exchange happens elsewhere. It is called from Ask or Interrupted.
func (x *Exchange) Leave() { x.left.Store(true) }

// deliver ends the exchange, the first time it is called.
func (x *Exchange) deliver(r Reply) bool {
	x.mu.Lock()
	first := x.answered.CompareAndSwap(false, true)
	x.mu.Unlock()
	if !first {
		return false
	}
	if x.req.Deliver != nil {
		x.req.Deliver(r)
	} else {
		x.done <- r
	}
	return true
}

// notify passes on a notification, unless the reply has been delivered. The
// lock keeps two streams of one server from calling Notify at once.
func (x *Exchange) notify(method string, params []byte) bool {
	if x.req.Notify == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.answered.Load() {
		x.req.Notify(method, params)
	}
	return true
}

// giveUp stops waiting for an answer where waiting holds something open.
func (x *Exchange) giveUp() {
	if x.abort != nil {
		x.abort()
	}
}
