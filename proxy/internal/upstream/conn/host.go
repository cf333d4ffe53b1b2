package conn

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
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

// A Host holds what all connections of one upstream share. Its fields do not change once the
// upstream has started.
type Host struct {
	Config  Config
	Options Options
	Log     *slog.Logger
	Grace   Grace
	Client  *http.Client

	IDs   atomic.Int64 // last id of a request or progress token
	Words outputLines  // last output lines of its process
	Work  goroutines   // goroutines that outlive a connection

	Acked chan int64 // receives the id of an acknowledged subscription; 0: unknown id

	Rev func() *rev.Rev // returns the family of revisions of the server, as far as known

	// Renew repeats the handshake on c after the server has forgotten its session.
	Renew func(ctx context.Context, c Conn, version string) (*Session, error)
	// Renewed is called once c uses the new session.
	Renewed func()
}

// Grace holds the time limits for ending a child, step by step.
type Grace struct {
	Exit time.Duration // from the end of its input to SIGTERM
	Term time.Duration // from SIGTERM to SIGKILL
	Kill time.Duration // from SIGKILL to the report that it cannot be killed
	Tell time.Duration // from the end of its output to its exit status
}

// Heard handles a notification that belongs to no request.
func (h *Host) Heard(method string, params []byte) {
	switch {
	case method == "notifications/subscriptions/acknowledged": // later notifications are not missed
		select {
		case h.Acked <- acknowledged(params):
		default: // no subscription waits
		}
	case h.Options.OnNotification != nil:
		h.Options.OnNotification(method, params)
	}
}

// acknowledged returns the id of the subscription that the server acknowledges, or 0 if the server
// does not name it.
func acknowledged(params []byte) int64 {
	meta, _ := rawjson.Member(params, "_meta")
	id, _ := rawjson.Member(meta, "io.modelcontextprotocol/subscriptionId")
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// HeardFrom is called when the proxy begins to receive the server's notifications.
func (h *Host) HeardFrom() {
	if h.Options.OnListen != nil {
		h.Options.OnListen()
	}
}

// Phase is the connection phase of an upstream.
type Phase int

// The phases of an upstream.
const (
	Starting Phase = iota // never up so far; connecting
	Up
	Down   // was up or could not be reached; reconnecting
	Failed // given up: it cannot work with this configuration, or it was closed
)

func (p Phase) String() string { return [...]string{"starting", "up", "down", "failed"}[p] }

// State is a snapshot of the state of an upstream.
type State struct {
	Phase Phase
	Err   error     // why it is not up
	Since time.Time // start of the phase

	Introduction     // from the last connection that was up
	Pid          int // process id of the child; 0 for HTTP
}

// An Introduction is a server's description of itself from the handshake.
type Introduction struct {
	ProtocolVersion string
	Speaks2025      bool            // a server of [rev.Rev2026] supports older revisions too
	ServerInfo      json.RawMessage // as sent by the server; nil: not sent
	Capabilities    json.RawMessage
	Instructions    string
	Around          json.RawMessage // object with the remaining members; nil: too large
}

// Rev returns the family of revisions that the server speaks.
func (i Introduction) Rev() *rev.Rev { return rev.Of(i.ProtocolVersion) }
