// Package conn contains the parts that connections to MCP servers share, whatever their transport.
// It opens no connection itself.
//
// A [Conn] is one connection; packages stdio, httpsse and streamable implement it. An [Exchange] is
// a [Request] and its future [Reply]. A [Dispatcher] routes the messages that a server sends on one
// stream: replies to their exchanges ([Pending]), requests to the proxy ([ServerRequests]), and
// notifications. A [Host] holds what all connections of one upstream share. [Lost], [StatusError]
// and [ErrNotSent] tell whether a server can have seen a request that got no answer.
//
// # Goroutines and locks
//
// Deliver, Notify, Ask and the functions of [Options] run on the goroutine that reads from the
// connection, and must not block. Exchange.mu is held while Notify runs, so that no notification
// follows the reply. Pending, ServerRequests and the other types have locks of their own, which are
// not held while a function of a Request or of Options runs.
//
// # Invariants
//
// Every exchange gets exactly one reply. ErrNotSent is used only if no byte of the request can have
// reached the server.
package conn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// Conn is one connection to a server.
type Conn interface {
	// Send sends x. It eventually delivers a reply to x, and never blocks.
	Send(x *Exchange)
	Cancel(x *Exchange, reason string)
	// Notify sends a notification. s is its session over HTTP.
	Notify(ctx context.Context, s *Session, method string, params []byte) error
	// Agree makes the connection use the result of a handshake.
	Agree(s *Session)
	// Over returns a channel that is closed when the connection has become unusable. Cause returns
	// why.
	Over() <-chan struct{}
	Cause() error
	// Restart ends the connection with err unless requests are in flight. It reports whether it
	// did.
	Restart(ctx context.Context, err error) bool
	// Retire ends the connection, and returns once all processes of the server have exited.
	Retire()
}

// Session is the result of a handshake that requests over HTTP carry in their headers.
type Session struct {
	ID      string // session id of [rev.Rev2025]; can be empty
	Version string
}

// Rev returns the negotiated family of revisions.
func (s *Session) Rev() *rev.Rev { return rev.Of(s.Version) }

// A Request is one JSON-RPC request to an upstream.
type Request struct {
	Method string
	Params []byte // JSON object or nil; not kept once the request is sent
	Name   string // name of the tool, prompt or resource, for the Mcp-Name header of revision 2026-07-28
	Token  int64  // progress token in Params, from NewToken; 0: none

	// Mirrored is the called tool if some of its arguments must be mirrored in headers
	// (x-mcp-header), as HTTP of [rev.Rev2026] requires.
	Mirrored *mcp.Tool

	// Notify is called with the notifications that belong to this request, in order and before its
	// reply: progress with its token and, over HTTP, all notifications on the request's own stream.
	// It runs on the goroutine that reads from the connection and must not block. nil: they go to
	// Options.OnNotification.
	Notify func(method string, params []byte)

	// Ask is called with the requests of a server of 2025-11-25 that belong to this request because
	// they came on its own stream over HTTP. It must not block. nil: they go to Options.OnRequest.
	Ask func(*ServerRequest)

	// Interrupted is called when a server of 2025-11-25 has ended the HTTP stream of the request,
	// before the proxy resumes it. retry is the delay that the server asks for; 0: not given.
	Interrupted func(retry time.Duration)

	// Deliver, if set, gets the reply instead of Done. It runs on the goroutine that reads from the
	// connection, or on the caller of Send, and must not block.
	Deliver func(Reply)

	// Begin, if set, is called with the exchange before anything is sent. If it returns false, the
	// request is not sent, and the reply is [ErrNotSent].
	Begin func(*Exchange) bool

	// Here means that the caller waits for the reply anyway: over streamable HTTP, Send makes the
	// request on the caller's goroutine, and returns when the reply has been delivered or soon
	// after Exchange.Leave was called.
	Here bool

	// Again, if set, is called before the request is sent a second time, in a new session or with
	// other credentials. If it returns an error, the request is not sent, and the reply is
	// [ErrNotSent] with that error.
	Again func() error

	Session *Session          // session of a handshake over HTTP
	Headers map[string]string // headers derived from Mirrored
}

// A Reply ends an exchange. Exactly one of its fields is set.
type Reply struct {
	Result []byte // raw JSON of the member
	Error  []byte // raw JSON of the member: an error from the server
	Err    error  // transport error: ErrNotSent, *Lost or *StatusError

	Rest func() Reply // waits for the reply, if it is still to come and the goroutine that returned this Reply was released
}

// An Exchange is a request and its future reply.
type Exchange struct {
	Req     Request
	ID      int64
	Conn    Conn // nil: never sent
	replies chan Reply

	Position int64              // stdio: offset of its first byte in the stream, guarded by the pipe
	Body     Body               // HTTP: body of the request
	Ctx      context.Context    // HTTP: context of the round trip
	Abort    context.CancelFunc // HTTP

	Renewed bool // HTTP: sent a second time, because the server had dropped the session

	InlineStopped atomic.Bool // the caller of Send should return

	mu       sync.Mutex // held while Notify runs
	Answered atomic.Bool
}

// NewExchange returns the exchange of r, which is sent on c. If c is nil, the exchange is never sent.
func NewExchange(c Conn, r Request, id int64) *Exchange {
	x := &Exchange{Req: r, ID: id, Conn: c, Position: process.Nowhere}
	if r.Deliver == nil {
		x.replies = make(chan Reply, 1)
	}
	if l, ok := c.(lasting); ok {
		x.Ctx, x.Abort = context.WithCancel(l.Lifetime())
	}
	return x
}

// A lasting connection makes one round trip per exchange. All of them end with Lifetime.
type lasting interface{ Lifetime() context.Context }

// Done returns a channel that receives exactly one reply, however late. The reply can be left
// unread. It returns nil if the request has a Deliver.
func (x *Exchange) Done() <-chan Reply { return x.replies }

// Cancel tells the upstream that the client has stopped waiting for the answer. It does not block
// and does not end the exchange: the reply still comes, from the server or from the loss of the
// connection.
func (x *Exchange) Cancel(reason string) {
	if x.Conn != nil && !x.Answered.Load() {
		x.Conn.Cancel(x, reason)
	}
}

// StopInline makes an inline Send return; the rest of the exchange runs on another goroutine. It is
// called from Ask or Interrupted.
func (x *Exchange) StopInline() { x.InlineStopped.Store(true) }

// Deliver ends the exchange with r. It reports false if the exchange had ended before.
func (x *Exchange) Deliver(r Reply) bool {
	x.mu.Lock()
	first := x.Answered.CompareAndSwap(false, true)
	x.mu.Unlock()
	if !first {
		return false
	}
	if x.Req.Deliver != nil {
		x.Req.Deliver(r)
	} else {
		x.replies <- r
	}
	return true
}

// Notify forwards a notification, unless the reply has been delivered. The lock prevents concurrent
// calls of Req.Notify by two streams of one server. It reports false if the request takes no
// notifications.
func (x *Exchange) Notify(method string, params []byte) bool {
	if x.Req.Notify == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.Answered.Load() {
		x.Req.Notify(method, params)
	}
	return true
}

// GiveUp abandons an exchange, and aborts its round trip over HTTP.
func (x *Exchange) GiveUp() {
	if x.Abort != nil {
		x.Abort()
	}
}

var ErrBodyGone = errors.New("the request was cancelled before all of it was sent")

// A Body is the body of an HTTP request. It is kept until the answer comes, since a server that has
// forgotten the session gets it a second time; Forget drops it earlier. It is safe for concurrent
// use.
type Body struct {
	mu   sync.Mutex
	data []byte
	gone bool
}

// Fill sets the bytes, unless Forget was called.
func (b *Body) Fill(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.gone {
		b.data = data
	}
}

// Bytes returns the bytes, or ErrBodyGone after Forget.
func (b *Body) Bytes() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return nil, ErrBodyGone
	}
	return b.data, nil
}

func (b *Body) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data, b.gone = nil, true
}
