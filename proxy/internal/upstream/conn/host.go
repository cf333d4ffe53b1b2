package conn

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// Config describes the server to connect to. The server is either started as a child process
// (Command) or already listening at a URL (URL).
type Config struct {
	Name string

	Command string
	Args    []string
	Env     map[string]string // environment variables for this child, in addition to those that every child gets
	Dir     string

	URL         string
	Headers     map[string]string
	Credentials Credentials // source of credentials, used in addition to the headers; nil if none
	TLS         *tls.Config // trusted roots and client certificate, for TLS 1.2 or later; nil means Go's defaults
	SSE         bool        // whether to use only HTTP+SSE (2024-11-05); if false, streamable HTTP is tried first

	Protocol   string // protocol to use: "auto" or empty, "legacy", or a revision such as "2026-07-28"
	MaxMessage int    // maximum size of a message in bytes (a longer message ends the connection); 0 means 64 MiB
}

// Credentials authorize HTTP requests to a server whose authorization can change over time. The
// methods must be safe for concurrent use.
type Credentials interface {
	// Authorization returns the value of the next request's Authorization header, or "" for no
	// header.
	Authorization(ctx context.Context) (string, error)
	// Renew is called when the server has refused a request with the given header value. It returns
	// the value for a second attempt, or "" if another attempt would be useless.
	Renew(ctx context.Context, refused string, response *http.Response) (string, error)
	// Await is called if there are no credentials. It blocks until another attempt is worthwhile,
	// or until ctx is done.
	Await(ctx context.Context)
}

// Options connects an [Upstream] with the rest of the proxy. The zero value is ready to use. The
// functions must not block.
type Options struct {
	Logger  *slog.Logger // if nil, nothing is logged
	Version string       // this program's version, sent to the server

	// OnNotification is called with the server's notifications that belong to no request. It runs
	// on the goroutine that reads from the connection.
	OnNotification func(method string, params []byte)
	// OnListen is called when the proxy starts to receive the server's notifications. The proxy has
	// missed all earlier notifications.
	OnListen func()
	// OnRequest is called with the server's requests for sampling, elicitation and roots. If such a
	// request arrives on the HTTP stream of a request with an Ask function, Ask is called instead.
	// Servers that use revision 2026-07-28 send no such requests. If OnRequest is nil, requests
	// that do not go to an Ask function are refused.
	OnRequest func(q *ServerRequest)
	// OnState is called when the upstream comes up or goes down, and when the proxy gives up
	// connecting to it.
	OnState func()

	// Busy reports whether the server is working even though no request is open. A busy server must
	// not be restarted for a new handshake. If Busy is nil, the server is never considered busy.
	Busy func() bool

	// Burst, if not nil, groups messages that arrive together from a child process, so that one
	// write to disk or to the client can serve all of them.
	Burst Burst

	// Watchdog, if not nil, kills all child processes that are still running when this process
	// ends.
	Watchdog *process.Watchdog

	// ConnectTimeout is the time limit for each attempt to connect, including the start of the
	// server; 0 means 60 seconds.
	ConnectTimeout time.Duration
}

// A Burst groups messages that arrive together, so that one write to disk or to the client can
// serve all of them. Begin is called before such a group, and End after it. Replies can be
// postponed until End.
type Burst interface {
	Begin()
	Flush() // handles the postponed replies; called before a request or a notification is handled, to preserve the order of messages
	End()
}

// A Host holds the data shared by all connections to one upstream. Its fields are not assigned
// after the upstream has started, and are safe for concurrent use.
type Host struct {
	Config  Config
	Options Options
	Log     *slog.Logger
	Grace   Grace
	Client  *http.Client

	IDs   atomic.Int64 // last ID used for a request or a progress token
	Words outputLines  // last lines of the child's output
	Work  wait.Group   // goroutines that may outlive a connection

	Acked chan int64 // carries the ID of each subscription that the server has acknowledged; 0 if the acknowledgment lacks the ID

	Rev func() *rev.Rev // returns [rev.Rev2025] or [rev.Rev2026], depending on the server's protocol revision; Rev2025 if it is unknown

	// Renew repeats the handshake over the connection c. It is called when the server no longer
	// knows the session or when more client capabilities must be declared.
	Renew func(ctx context.Context, c Conn, version string) (*Session, error)
	// Renewed is called when the connection starts to use the session returned by Renew.
	Renewed func()
}

// A Grace holds the time limits for the steps of ending a child process.
type Grace struct {
	Exit time.Duration // maximum time from closing the child's input to SIGTERM
	Term time.Duration // maximum time from SIGTERM to SIGKILL
	Kill time.Duration // maximum time to wait after SIGKILL before reporting that the child could not be killed
	Tell time.Duration // maximum time to wait for the child's exit status after the end of its output
}

// Heard handles a notification that belongs to no request.
func (h *Host) Heard(method string, params []byte) {
	switch {
	case method == "notifications/subscriptions/acknowledged": // from now on, the proxy receives all notifications
		select {
		case h.Acked <- acknowledged(params):
		default: // no goroutine is waiting for an acknowledgment
		}
	case h.Options.OnNotification != nil:
		h.Options.OnNotification(method, params)
	}
}

// acknowledged returns the ID of the acknowledged subscription, or 0 if the notification does not
// contain it.
func acknowledged(params []byte) int64 {
	id, _ := rawjson.MemberAt(params, "_meta", "io.modelcontextprotocol/subscriptionId")
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil { // n is nonzero if the ID is a number out of range
		return 0
	}
	return n
}

// HeardFrom calls Options.OnListen, if set. It must be called when the proxy starts to receive the
// server's notifications.
func (h *Host) HeardFrom() {
	if h.Options.OnListen != nil {
		h.Options.OnListen()
	}
}

// Delays between attempts to open a connection or a stream. They grow from FirstPause to LastPause.
const (
	FirstPause = 250 * time.Millisecond
	LastPause  = 30 * time.Second
	StableAge  = 30 * time.Second // how long a connection must last before the delay is reset to FirstPause
)

// A Phase is the state of an upstream's connection.
type Phase int

// Phases of an upstream.
const (
	Starting Phase = iota // connecting for the first time
	Up
	Down   // trying to connect again, after a lost connection or a failed attempt
	Failed // no longer connecting, because the upstream cannot work with this configuration or was closed
)

func (p Phase) String() string { return [...]string{"starting", "up", "down", "failed"}[p] }

// A State is a snapshot of an upstream's state.
type State struct {
	Phase Phase
	Err   error     // why the upstream is not up
	Since time.Time // when the phase began

	Introduction     // the server's self-description from the last time the upstream came up
	Pid          int // process ID of the child; 0 for HTTP
}

// An Introduction is a server's self-description in the handshake.
type Introduction struct {
	ProtocolVersion string
	Speaks2025      bool            // whether a server that uses [rev.Rev2026] supports older revisions too
	ServerInfo      json.RawMessage // serverInfo as sent by the server, or nil
	Capabilities    json.RawMessage
	Instructions    string
	Around          json.RawMessage // object with all other members; nil if too large
}

// Rev returns [rev.Rev2025] or [rev.Rev2026], depending on the server's protocol revision.
func (i Introduction) Rev() *rev.Rev { return rev.Of(i.ProtocolVersion) }

const (
	wordsKept = 20  // maximum number of lines
	wordsLine = 300 // maximum length of a line in bytes
)

// outputLines stores the last lines of a child's output that are not protocol messages. They
// usually explain why a child does not work. The lines are kept after the child has ended, until a
// new child writes its first line.
type outputLines struct {
	mu    sync.Mutex
	lines []string
	old   bool // whether the lines come from an earlier child
}

// Begin announces that later lines come from a new child.
func (w *outputLines) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.old = true
}

// add adds a line, with a prefix that describes the line's origin.
func (w *outputLines) add(where string, line []byte) {
	text := where + string(line[:min(len(line), wordsLine)])
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.old {
		w.lines, w.old = nil, false
	}
	if len(w.lines) == wordsKept {
		w.lines = append(w.lines[:0], w.lines[1:]...)
	}
	w.lines = append(w.lines, text)
}

// Said returns the stored lines.
func (w *outputLines) Said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := make([]string, 0, len(w.lines))
	for _, line := range w.lines {
		said = append(said, text.Excerpt(line, wordsLine+len(OnStdout)))
	}
	return said
}

// OnStdout is the prefix for lines of standard output that are not protocol messages.
const OnStdout = "not a message, on standard output: "

// Hear stores a line, unless it is blank.
func (h *Host) Hear(where string, line []byte) {
	if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
		h.Words.add(where, line)
	}
}

// A Trickle limits the number of logged lines. It allows a burst, and then a fixed number of lines
// per second, and logs how many lines were dropped.
type Trickle struct {
	log  *slog.Logger
	kind string

	mu      sync.Mutex
	left    float64
	last    time.Time
	dropped int
}

const (
	TrickleBurst = 100
	trickleRate  = 20 // number of lines allowed per second after a burst
)

func NewTrickle(log *slog.Logger, kind string) *Trickle {
	return &Trickle{log: log, kind: kind, left: TrickleBurst, last: time.Now()}
}

// Allow reports whether a line may be logged now.
func (t *Trickle) Allow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.left = min(TrickleBurst, t.left+now.Sub(t.last).Seconds()*trickleRate)
	t.last = now
	if t.left < 1 {
		t.dropped++
		return false
	}
	t.left--
	t.told()
	return true
}

// Flush logs how many lines have been dropped.
func (t *Trickle) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told()
}

func (t *Trickle) told() {
	if t.dropped > 0 {
		t.log.Log(context.Background(), slog.LevelWarn, "omitted lines of the server from the log", "kind", t.kind, "lines", t.dropped)
		t.dropped = 0
	}
}
