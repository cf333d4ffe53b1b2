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
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// Config describes the server to connect to: one that is started as a child process (Command), or
// one that listens (URL).
type Config struct {
	Name string

	Command string
	Args    []string
	Env     map[string]string // in addition to the few variables that every child gets
	Dir     string

	URL         string
	Headers     map[string]string
	Credentials Credentials // in addition to the headers; nil: none
	TLS         *tls.Config // trusted roots and client certificate; nil: Go's defaults. At least TLS 1.2 in any case
	SSE         bool        // use HTTP+SSE (2024-11-05) only; false: streamable HTTP, with HTTP+SSE for servers that do not know it

	Protocol   string // "" or "auto", "legacy", or a revision such as "2026-07-28"
	MaxMessage int    // bytes; 0: 64 MiB. A longer message ends the connection
}

// Credentials authorize requests to a server over HTTP if the authorization changes over time. Its
// methods must be safe for concurrent use.
type Credentials interface {
	// Authorization returns the Authorization header for the next request, or an empty string for
	// none.
	Authorization(ctx context.Context) (string, error)
	// Renew is called when the server has refused a request with this header. It returns the header
	// for a second attempt, or an empty string if another header would not help.
	Renew(ctx context.Context, refused string, response *http.Response) (string, error)
	// Await blocks until a new attempt is worthwhile after there were no credentials, or until ctx
	// ends.
	Await(ctx context.Context)
}

// Options connect an Upstream with the rest of the proxy. The zero value works. The functions must
// not block.
type Options struct {
	Logger  *slog.Logger // nil: discard
	Version string       // version of this program, sent to the server

	// OnNotification is called with the server's notifications outside of requests, on the
	// goroutine that reads from the connection.
	OnNotification func(method string, params []byte)
	// OnListen is called when the proxy begins to receive the server's notifications. Earlier ones
	// were missed.
	OnListen func()
	// OnRequest is called with the requests of a server of [rev.Rev2025] that do not belong to a
	// request of the proxy. nil: they are refused.
	OnRequest func(q *ServerRequest)
	// OnState is called when the upstream comes up, goes down or is given up.
	OnState func()

	// Busy reports whether the server works on something without an open request, so that it must
	// not be restarted for a new handshake. nil: never.
	Busy func() bool

	// Burst is notified when several messages of a child can be read at once, so that their effects
	// can be combined. nil: not notified.
	Burst Burst

	// Watchdog ends the processes of children if this process cannot. nil: only the means of the
	// operating system.
	Watchdog *process.Watchdog

	// ConnectTimeout limits one attempt to connect, including the start of the server; 0: 60 s.
	ConnectTimeout time.Duration
}

// A Burst is notified about messages that can be read at once.
type Burst interface {
	Begin()
	Flush() // called before a message that is not a reply
	End()
}

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
