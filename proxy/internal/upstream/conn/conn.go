// Package conn has what the connections to MCP servers share, whatever their transport:
// requests under way and their replies, what servers ask of clients, errors, and what a
// connection knows of its upstream. It opens no connection itself.
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

// Config says which server to connect to: one that is started as a child
// (Command), or one that listens (URL).
type Config struct {
	Name string

	Command string
	Args    []string
	Env     map[string]string // beside the few variables that every child gets
	Dir     string

	URL         string
	Headers     map[string]string
	Credentials Credentials // beside the headers; nil: none
	TLS         *tls.Config // how the server is known, and who we are to it; nil: as usual. Never less than TLS 1.2
	SSE         bool        // by HTTP+SSE (2024-11-05); else by streamable HTTP, or HTTP+SSE where the server does not know that

	Protocol   string // "" or "auto", "legacy", or a revision such as "2026-07-28"
	MaxMessage int    // bytes; 0: 64 MiB. A longer message ends the connection
}

// Credentials say in whose name requests to a server over HTTP are made, where
// that changes with time. Their methods are called from any goroutine.
type Credentials interface {
	// Authorization is the header of that name for the next request; "": none.
	Authorization(ctx context.Context) (string, error)
	// Renew is told how the server turned a request away that had this header.
	// It returns the header to send it with once more, or "" where another one
	// would change nothing.
	Renew(ctx context.Context, refused string, response *http.Response) (string, error)
	// Await returns when it may be of use to try again after there were none, or
	// when ctx ends.
	Await(ctx context.Context)
}

// Options are what an Upstream needs of its surroundings. The zero value works.
// No function may wait.
type Options struct {
	Logger  *slog.Logger // nil: discard
	Version string       // of this program, for the server to see

	// OnNotification gets what the server says on its own account, on the
	// connection's reader.
	OnNotification func(method string, params []byte)
	// OnListen is called when it begins to be heard what the server says on its
	// own account: what it said before is missed.
	OnListen func()
	// OnRequest gets the requests of a server of [rev.Rev2025] that belong to no
	// request of ours. nil: they are refused.
	OnRequest func(q *ServerRequest)
	// OnState is called when the upstream came up, went down, or was given up.
	OnState func()

	// Busy reports whether the server does work that no request waits for, so
	// that it must not be ended for a new handshake. nil: it never does.
	Busy func() bool

	// Burst is told when a child's reader has more messages at hand than one,
	// and when it has none left, for its user to put together what comes of them. nil: nobody is.
	Burst Burst

	// Watchdog ends the processes of children where this one cannot. nil: only
	// what the system does by itself.
	Watchdog *process.Watchdog

	// ConnectTimeout bounds one attempt to connect, with the time that the
	// server takes to start; 0: 60 s.
	ConnectTimeout time.Duration
}

// A Burst is told of messages that are at hand together.
type Burst interface {
	Begin()
	Flush() // before a message that is no reply
	End()
}

// Conn is one connection to a server.
type Conn interface {
	// Send delivers a reply to x in the end, and never waits.
	Send(x *Exchange)
	Cancel(x *Exchange, reason string)
	// Notify sends a notification. s is the session that it belongs to, over HTTP.
	Notify(ctx context.Context, s *Session, method string, params []byte) error
	// Agree begins the use of what a handshake agreed on.
	Agree(s *Session)
	// Over is closed when the connection is of no more use; Cause says why.
	Over() <-chan struct{}
	Cause() error
	// Restart ends the connection for err, if that harms nothing that is under way.
	Restart(ctx context.Context, err error) bool
	// Retire ends the connection. It returns once nothing is left of the
	// server's processes.
	Retire()
}

// Session is what requests over HTTP carry: what a handshake agreed on.
type Session struct {
	ID      string // of [rev.Rev2025]; may be empty
	Version string
}

// Rev is the family of revisions that the handshake agreed on.
func (s *Session) Rev() *rev.Rev { return rev.OfVersion(s.Version) }
