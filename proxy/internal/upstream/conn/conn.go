package conn

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

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
	Transport   string      // TransportSSE; else streamable HTTP, or HTTP+SSE where the server does not know that

	Protocol   string        // "" or "auto", "legacy", or a revision such as "2026-07-28"
	Timeout    time.Duration // of one call; not used here
	MaxMessage int           // bytes; 0: 64 MiB. A longer message ends the connection
}

// Options are what an Upstream needs of its surroundings. The zero value works.
type Options struct {
	Logger  *slog.Logger // nil: discard
	Version string       // of this program, for the server to see

	// OnNotification gets what the server says on its own account. It runs on
	// the connection's reader and must not wait.
	OnNotification func(method string, params []byte)
	// OnListen is called when it begins to be heard what the server says on its
	// own account: what it said before is missed. It must not wait.
	OnListen func()
	// OnRequest gets the requests of a legacy server that belong to no request
	// of ours. It must not wait. nil: they are refused.
	OnRequest func(q *ServerRequest)
	// OnState is called when the upstream came up, went down, or was given up.
	// It must not wait for the upstream.
	OnState func()

	// Busy reports whether the server does work that no request waits for, so
	// that it must not be ended for a new handshake. nil: it never does.
	Busy func() bool

	// OnBurst is told when a child's reader has more messages at hand than one,
	// and when it has none left, for its user to put together what comes of
	// them. It must not wait.
	OnBurst func(begins bool)

	// Watchdog ends the processes of children where this one cannot. nil: only
	// what the system does by itself.
	Watchdog *process.Watchdog

	// ConnectTimeout bounds one attempt to connect, with the time that the
	// server takes to start; 0: 60 s.
	ConnectTimeout time.Duration
}

const (
	DefaultMaxMessage     = 64 << 20
	DefaultConnectTimeout = 60 * time.Second
)

// Conn is one connection to a server.
type Conn interface {
	// send delivers a reply to x in the end, and never waits.
	Send(x *Exchange)
	Cancel(x *Exchange, reason string)
	// notify sends a notification. s is the session that it belongs to, over HTTP.
	Notify(ctx context.Context, s *Session, method string, params []byte) error
	// agree begins the use of what a handshake agreed on.
	Agree(s *Session)
	// over is closed when the connection is of no more use; cause says why.
	Over() <-chan struct{}
	Cause() error
	// retire ends the connection. It returns once nothing is left of the
	// server's processes.
	Retire()
}

// heard takes a notification that belongs to no request.
func (u *Host) heard(method string, params []byte) {
	if method == "notifications/subscriptions/acknowledged" { // from now on nothing is missed
		select {
		case u.Acked <- acknowledged(params):
		default: // nobody listens
		}
		return
	}
	if u.Options.OnNotification != nil {
		u.Options.OnNotification(method, params)
	}
}
