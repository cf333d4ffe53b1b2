package proxy

import (
	"context"
	"log/slog"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/pin"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/front"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/router"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Options configures a [Proxy]. The zero value is ready to use and safe: there are no upstreams and
// no approvals.
type Options struct {
	Upstreams []Upstream
	Policy    *gate.Policy  // if nil, every call passes
	Active    []string      // names of the nets that are active at the start; nil means all nets
	Root      string        // folder that contains the policy's files; the positions of rules in them are shown relative to it
	Recorder  Recorder      // if nil, records are written only to Database, if set
	Database  Database      // if nil, states are lost when the process ends; the caller must close it after [Proxy.Leave]
	Keep      time.Duration // how long records in Database are kept; 0 means forever
	Record    Record
	Observer  Observer // if nil, calls are not traced
	Meter     Meter    // if nil, calls are not counted

	// Remedy finds a remedy for a refused call, which is then part of the refusal; nil: refusals
	// contain no remedy. It receives its own copy of the state. It must not block and must be safe
	// for concurrent use.
	Remedy func(*gate.State, gate.Call, *gate.Refusal) Remedy

	Pipefail bool // whether hooks add set -o pipefail to a script, if this is all that the script lacks to count as evidence and the agent's hooks can change scripts

	// Pins holds the accepted definitions of tools, so that the proxy detects servers that change
	// these definitions; nil: servers can change them freely.
	Pins *Pins

	// Advertise selects the tools that are listed. "all" (the default) lists all tools; "possible"
	// leaves out those in Impossible; "enabled" lists, to clients with a handshake, only tools that
	// no net would block now. Advertise never allows a call that a net blocks.
	Advertise string

	// Impossible returns those of the given tools that can never be called while the nets in active
	// are active; if active is nil, all nets are active. Impossible is called when the tools or the
	// nets have changed. nil: it is unknown which tools can never be called.
	Impossible func(tools []gate.Call, active []string) []string

	Session    SessionWay // how the session of a call is determined
	Approval   Approval
	Startup    time.Duration // how long the first list request waits for upstreams; 0 means 10 seconds
	MaxRequest int           // maximum size of a client's message in bytes; 0 means 4 MiB
	MaxResult  int           // maximum size of an upstream's message in bytes; 0 means 64 MiB
	Logger     *slog.Logger  // if nil, nothing is logged
	Version    string
	Now        func() time.Time // nil means time.Now
}

// parts holds the components of a proxy, such as its sessions and its pipeline, and the proxy's
// options. The fields are set before the proxy starts and do not change after that.
type parts struct {
	options  Options
	life     *lifetime.Lifetime
	started  time.Time
	watchdog *upstream.Watchdog
	where    func(gate.Position) string // formats a policy position for people

	startup    context.Context //nolint:containedctx // ends when lists no longer wait for upstreams
	endStartup context.CancelFunc
	endStreams context.CancelFunc

	approvals *approval.Broker
	pin       *pin.PIN // PIN for approvals; nil if none
	admission *admission.Admission
	durable   *store.Durable // ledger in a database; if nil, the ledger is kept in memory
	watcher   *store.Watcher // nil if durable is nil
	rounds    *rounds.Keeper // nil if durable is nil

	sessions   *session.Sessions
	pool       *pool.Pool
	tasks      *tasks.Tasks
	reverse    *reverse.Reverse
	advertiser *advertise.Advertiser // nil if every client sees the same tools
	relay      *relay.Relay
	pipeline   *pipeline.Pipeline
	router     *router.Router
	front      *front.Front
}
