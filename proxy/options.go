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

// Options configures a [Proxy]. The zero value is ready to use, but has neither upstreams nor
// approvals.
type Options struct {
	Upstreams []Upstream
	Policy    *gate.Policy  // if nil, every call passes
	Active    []string      // names of the nets active at the start; nil means all nets
	Root      string        // folder of the policy's files; positions of rules are shown relative to this folder
	Recorder  Recorder      // if nil, records are written only to Database
	Database  Database      // if nil, session states are lost when the process ends; the caller must close the database after [Proxy.Leave]
	Keep      time.Duration // how long records are stored in Database; 0 means forever
	Record    Record
	Observer  Observer // if nil, calls are not traced
	Meter     Meter    // if nil, calls are not counted

	// Remedy finds a remedy for a refused call, to be included in the refusal. If Remedy is nil,
	// refusals contain no remedies. Remedy receives its own copy of the state. It must not block
	// and must be safe for concurrent use.
	Remedy func(*gate.State, gate.Call, *gate.Refusal) Remedy

	Pipefail bool // whether hooks may add "set -o pipefail" to an agent's script so that the script's success counts toward a requirement

	// Pins holds the accepted tool definitions. The proxy compares them with the definitions that
	// servers send. If Pins is nil, a server can change its definitions unnoticed.
	Pins *Pins

	// Advertise selects the tools to list: "all" (the default), "possible" (all except those
	// returned by Impossible) or "enabled" (all except those that a net would block now; see
	// [gate.Session.Advertise]). With "enabled", tools are hidden only from clients that have sent
	// initialize. Advertise does not affect the decisions on calls.
	Advertise string

	// Impossible returns the names of the tools that can never be called while the same nets remain
	// active. The second argument contains the names of the active nets; nil means all nets. If
	// Advertise is "possible", Impossible is called after each change to the tools or the nets. If
	// Impossible is nil, every tool counts as possible.
	Impossible func(tools []gate.Call, active []string) []string

	Session    SessionWay // how a call is assigned to a session
	Approval   Approval
	Startup    time.Duration // how long the first list request waits for upstreams; 0 means 10 seconds
	MaxRequest int           // maximum size of a client's message in bytes; 0 means 4 MiB
	MaxResult  int           // maximum size of an upstream's message in bytes; 0 means 64 MiB
	Logger     *slog.Logger  // if nil, nothing is logged
	Version    string
	Now        func() time.Time // nil means time.Now
}

// parts holds the options and the components of a proxy, such as its sessions and its pipeline. The
// fields are set before the proxy starts and do not change afterwards.
type parts struct {
	options  Options
	life     *lifetime.Lifetime
	started  time.Time
	watchdog *upstream.Watchdog
	where    func(gate.Position) string // formats a policy position for display

	startup    context.Context //nolint:containedctx // done when lists no longer wait for upstreams
	endStartup context.CancelFunc
	endStreams context.CancelFunc

	approvals *approval.Broker
	pin       *pin.PIN // nil if approvals require no PIN
	admission *admission.Admission
	durable   *store.Durable // ledger of session states in a database; nil if the ledger is in memory
	watcher   *store.Watcher // watches the database; nil without a database
	rounds    *rounds.Keeper // stores calls while they wait for a client's input; nil without a database

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
