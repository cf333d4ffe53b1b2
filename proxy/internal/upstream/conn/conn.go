// Package conn implements the parts common to connections to MCP servers over any transport. It
// opens no connection itself.
//
// A [Conn] is a connection; packages stdio, httpsse and streamable implement it. An [Exchange] is a
// [Request] with its future [Reply]. A [Dispatcher] routes the messages that a server sends:
// replies to their exchanges ([Pending]), requests to the proxy ([ServerRequests]), and
// notifications. A [Host] holds the data shared by all connections to one upstream. [Lost],
// [StatusError] and [ErrNotSent] are errors that show whether a server may have executed an
// unanswered request.
//
// # Goroutines and locks
//
// Request.Notify, Request.Ask, Options.OnNotification and Options.OnRequest run on the goroutine
// that reads from the connection. Request.Deliver and the other functions in [Options] can also run
// on other goroutines. All these functions must return without blocking. Exchange.mu is held while
// Request.Notify runs, so that no notification follows the reply. Pending, ServerRequests and the
// other types have their own locks, which are not held while a function in a Request or in Options
// runs.
//
// # Invariants
//
// Every exchange gets exactly one reply. ErrNotSent is used only if the server has not executed the
// request.
package conn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// A Conn is a connection to a server.
type Conn interface {
	// Send sends the request of an exchange and later delivers the reply to the exchange. It does
	// not block, unless Request.Here is set.
	Send(x *Exchange)
	Cancel(x *Exchange, reason string)
	// Notify sends a notification. Over streamable HTTP, the notification belongs to the session s
	// or, if s is nil, to the current session.
	Notify(ctx context.Context, s *Session, method string, params []byte) error
	// Agree sets the session for later messages. It is called after a handshake.
	Agree(s *Session)
	// Over returns a channel that is closed when the connection has become unusable. Cause returns
	// the reason.
	Over() <-chan struct{}
	Cause() error
	// Restart ends the connection, with err as the reason, unless this would affect requests in
	// flight. It reports whether it has ended the connection.
	Restart(ctx context.Context, err error) bool
	// Retire ends the connection. It returns after all processes of the server have exited.
	Retire()
}

// A Session is the result of a handshake. Over HTTP, the headers of later requests contain its ID
// and version.
type Session struct {
	ID      string // ID assigned by a server that uses revision 2025-11-25; may be empty
	Version string
}

// Rev returns [rev.Rev2025] or [rev.Rev2026], depending on the negotiated protocol revision.
func (s *Session) Rev() *rev.Rev { return rev.Of(s.Version) }

// A Request is a JSON-RPC request to an upstream.
type Request struct {
	Method string
	Params []byte // JSON object or nil; not retained once the request has been sent
	Name   string // name of the tool, prompt or resource, for the Mcp-Name header of revision 2026-07-28
	Token  int64  // progress token in Params, obtained from NewToken; 0 if none

	// Mirrored is the called tool if some of its arguments must be mirrored in HTTP headers
	// (x-mcp-header), as [rev.Rev2026] requires. Otherwise, it is nil.
	Mirrored *mcp.Tool

	// Notify is called with the notifications about this request, in order and before the reply.
	// These are the progress notifications with the request's token and, over streamable HTTP, all
	// notifications on the request's stream that do not belong to another request. Notify runs on
	// the goroutine that reads from the connection, so it must not block. If it is nil, the
	// notifications go to Options.OnNotification.
	Notify func(method string, params []byte)

	// Ask is called with the server's requests that arrive on the HTTP stream of this request. Only
	// servers that use revision 2025-11-25 send them. Ask must not block. If it is nil, the
	// requests go to Options.OnRequest.
	Ask func(*ServerRequest)

	// Interrupted is called when a server that uses revision 2025-11-25 has ended the HTTP stream
	// of the request, before the proxy resumes the stream. retry is the delay requested by the
	// server, or 0.
	Interrupted func(retry time.Duration)

	// Deliver, if not nil, receives the reply instead of the channel returned by Done. It runs on
	// the goroutine that reads from the connection or calls Send, and must not block.
	Deliver func(Reply)

	// Begin, if not nil, is called with the exchange before anything is sent. If it returns false,
	// the request is not sent, and the reply is [ErrNotSent].
	Begin func(*Exchange) bool

	// Here makes Send perform a streamable HTTP exchange on the calling goroutine. Callers set it
	// if they have nothing else to do until the reply arrives. Send then returns when the reply has
	// been delivered, or earlier if Exchange.StopInline is called.
	Here bool

	// Again, if not nil, is called before the request is sent a second time, in a new session or
	// with other credentials. If it returns an error, the request is not sent, and the reply is
	// [ErrNotSent] with that error.
	Again func() error

	Session *Session          // session to use for a request that is part of a handshake over HTTP
	Headers map[string]string // HTTP headers that repeat some of the arguments; see Mirrored
}

// A Reply ends an exchange. Exactly one of its fields is set.
type Reply struct {
	Result []byte // raw JSON of the "result" member
	Error  []byte // raw JSON of the "error" member, as sent by the server
	Err    error  // transport error: ErrNotSent, *Lost or *StatusError

	Rest func() Reply // waits for the reply and returns it; set if Send had to return before the reply arrived
}

// An Exchange is a request and its future reply.
type Exchange struct {
	Req     Request
	ID      int64
	Conn    Conn // nil if the request was never sent
	replies chan Reply

	Position int64              // offset of the request in the child's input, over stdio; guarded by the mutex of process.Pipe
	Body     Body               // body of the request, over HTTP
	Ctx      context.Context    // context of the HTTP round trip
	Abort    context.CancelFunc // cancels Ctx

	Renewed bool // whether the request was sent again over HTTP because the server no longer knew the session

	InlineStopped atomic.Bool // whether a Send on the caller's goroutine (see Request.Here) should return

	mu       sync.Mutex // held while Notify runs
	Answered atomic.Bool
}

// NewExchange returns an exchange for sending r on c. If c is nil, the request is never sent.
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

// lasting is implemented by connections that make a separate HTTP round trip for each exchange.
// When the context returned by Lifetime is done, all round trips are aborted.
type lasting interface{ Lifetime() context.Context }

// Done returns a channel that receives exactly one reply, possibly much later. The caller does not
// have to read the reply. If the request has a Deliver function, Done returns nil.
func (x *Exchange) Done() <-chan Reply { return x.replies }

// Cancel tells the upstream that the client has stopped waiting for the reply. It does not block.
// The exchange still gets a reply, possibly much later. The reply contains an error if the server
// has not responded.
func (x *Exchange) Cancel(reason string) {
	if x.Conn != nil && !x.Answered.Load() {
		x.Conn.Cancel(x, reason)
	}
}

// StopInline makes Send return early if Request.Here is set. If Send is waiting for an event from
// the server, it returns after that event. Another goroutine then completes the exchange.
func (x *Exchange) StopInline() { x.InlineStopped.Store(true) }

// Deliver ends the exchange with r. It returns false if the exchange has already ended.
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

// Notify passes a notification to Req.Notify, unless the response has already been delivered. It
// never calls Req.Notify concurrently, even if two streams of a server carry notifications for the
// request. It returns false if Req.Notify is nil.
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

// GiveUp abandons an exchange without waiting for the reply. Over HTTP, it aborts the round trip.
func (x *Exchange) GiveUp() {
	if x.Abort != nil {
		x.Abort()
	}
}

var ErrBodyGone = errors.New("the request was cancelled before all of it was sent")

// A Body is the body of an HTTP request. It keeps its content after the request has been sent,
// because the request must be sent again if the server no longer knows the session. Forget discards
// the content. A Body is safe for concurrent use.
type Body struct {
	mu   sync.Mutex
	data []byte
	gone bool
}

// Fill sets the content, unless Forget was called.
func (b *Body) Fill(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.gone {
		b.data = data
	}
}

// Bytes returns the content. After Forget, it returns ErrBodyGone.
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

// ErrNotSent means that the server has not executed the request. Either no byte of the request has
// left this process, or the server has refused the request. Callers must test for it with
// errors.Is, because it is usually wrapped in an error that adds the reason.
var ErrNotSent = errors.New("request not sent")

// An Unsent is an [ErrNotSent] error with a reason.
type Unsent struct{ Why error }

func NotSent(why error) error { return &Unsent{why} }

func (e *Unsent) Error() string   { return ErrNotSent.Error() + ": " + e.Why.Error() }
func (e *Unsent) Unwrap() []error { return []error{ErrNotSent, e.Why} }

// A Lost error means that the connection ended before a response arrived.
type Lost struct {
	Sent  bool  // whether bytes of the request may have reached the server; the outcome is then unknown
	Dead  bool  // whether all of the server's processes have exited, so that no process can still be working on the request
	Cause error // why the connection ended
}

func (e *Lost) Error() string {
	switch {
	case !e.Sent:
		return "connection lost before the request was sent: " + e.Cause.Error()
	case e.Dead:
		return "the server exited before it responded: " + e.Cause.Error()
	}
	return "connection lost before the response arrived: " + e.Cause.Error()
}

// Unwrap returns the cause. If the request was not sent, it also returns [ErrNotSent].
func (e *Lost) Unwrap() []error {
	if e.Sent {
		return []error{e.Cause}
	}
	return []error{ErrNotSent, e.Cause}
}

// A StatusError is the error for a response with an HTTP error status and no JSON-RPC error.
type StatusError struct {
	Code    int
	Excerpt string // beginning of the body: short, printable, and without the proxy's credentials
}

func (e *StatusError) Error() string {
	if e.Excerpt == "" {
		return fmt.Sprintf("the server responded with HTTP status %d", e.Code)
	}
	return fmt.Sprintf("the server responded with HTTP status %d: %s", e.Code, e.Excerpt)
}

// Executed reports whether the server may have executed the request. It returns false if the status
// means that the server has refused the request without executing it.
func (e *StatusError) Executed() bool {
	switch e.Code {
	case 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 429, 431:
		return false
	}
	return e.Code < 300 || e.Code > 399
}

// Permanent marks an error that will recur on every attempt.
type Permanent struct{ error }

// Permanently wraps err to mark it as an error that will recur on every attempt.
func Permanently(err error) Permanent { return Permanent{err} }

// Unwrap returns the marked error.
func (p Permanent) Unwrap() error { return p.error }
