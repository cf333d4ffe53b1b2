package conn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// A Request is one JSON-RPC request to an upstream.
type Request struct {
	Method string
	Params []byte // a JSON object, or nil; not kept after the request is on its way
	Name   string // tool, prompt or resource that is meant; the Mcp-Name header of revision 2026-07-28
	Token  int64  // the progress token in Params, of NewToken; 0: none

	// Mirrored is the tool that is called, if some of its arguments go into headers as
	// well (x-mcp-header), as HTTP of [rev.Rev2026] demands.
	Mirrored *mcp.Tool

	// Notify gets the notifications that belong to this request, in order and
	// before its reply: progress with its token, and over HTTP all that comes
	// on the request's own stream. It runs on the connection's reader and must
	// not wait. nil: they go to Options.OnNotification.
	Notify func(method string, params []byte)

	// Ask gets the requests of a server of 2025-11-25 that belong to this request, as
	// those do that come on its own stream over HTTP. It must not wait. nil:
	// they go to Options.OnRequest.
	Ask func(*ServerRequest)

	// Interrupted is told, before it is taken up again, that a server of 2025-11-25
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

	// Again, if set, is asked before the request is sent once more, in a new session or with
	// other credentials. After an error it is not sent, and the reply is [ErrNotSent] with
	// that error.
	Again func() error

	Session *Session          // of a handshake over HTTP
	Headers map[string]string // made of Mirrored
}

// A Reply is the end of an exchange. One of its fields is set.
type Reply struct {
	Result []byte // raw JSON of the member
	Error  []byte // raw JSON of the member: the server's own refusal
	Err    error  // the transport's: ErrNotSent, *Lost, *StatusError

	Rest func() Reply // it is still to come, and nobody waits for it here
}

// An Exchange is a request and the reply that it will get.
type Exchange struct {
	Req     Request
	ID      int64
	Conn    Conn // nil: it was never sent
	replies chan Reply

	Position int64              // stdio: of its first byte in the stream; guarded by the pipe
	Body     Body               // HTTP: what is sent
	Ctx      context.Context    // HTTP: of its round trip
	Abort    context.CancelFunc // HTTP

	Renewed bool // HTTP: it is sent once more, because the server had dropped the session

	Left atomic.Bool // the caller of Send is to be let go

	mu       sync.Mutex // held while Notify runs
	Answered atomic.Bool
}

func NewExchange(r Request, id int64) *Exchange {
	x := &Exchange{Req: r, ID: id, Position: process.Nowhere}
	if r.Deliver == nil {
		x.replies = make(chan Reply, 1)
	}
	return x
}

// A lasting connection makes a round trip for each exchange, which ends with lifetime.
type lasting interface{ Lifetime() context.Context }

// Use sets the connection that x will go out on.
func (x *Exchange) Use(c Conn) {
	x.Conn = c
	if l, ok := c.(lasting); ok {
		x.Ctx, x.Abort = context.WithCancel(l.Lifetime())
	}
}

// Done gets exactly one reply, however late, and may be left unread. It is nil
// if the request has a Deliver.
func (x *Exchange) Done() <-chan Reply { return x.replies }

// Cancel tells the upstream that the answer is not wanted any more. It does
// not wait, and ends nothing here: the reply still comes, from the server or
// as the loss of the connection.
func (x *Exchange) Cancel(reason string) {
	if x.Conn != nil && !x.Answered.Load() {
		x.Conn.Cancel(x, reason)
	}
}

// Leave lets the caller of Send go, where it waits: what is left of the
// exchange happens elsewhere. It is called from Ask or Interrupted.
func (x *Exchange) Leave() { x.Left.Store(true) }

// Deliver ends the exchange, the first time it is called.
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

// Notify passes on a notification, unless the reply has been delivered. The
// lock keeps two streams of one server from calling Notify at once.
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

// GiveUp stops waiting for an answer where waiting holds something open.
func (x *Exchange) GiveUp() {
	if x.Abort != nil {
		x.Abort()
	}
}

var ErrBodyGone = errors.New("the request was cancelled before all of it was sent")

// A Body is what a request over HTTP carries. It is kept until there is an answer,
// since a server that has forgotten the session gets it once more; Forget lets it
// go before that.
type Body struct {
	mu   sync.Mutex
	data []byte
	gone bool
}

// Fill puts the bytes in, unless nobody wants their answer any more.
func (b *Body) Fill(data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.gone {
		b.data = data
	}
}

// Bytes returns what was put in, or ErrBodyGone.
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
