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
	Database  Database      // if nil, states are lost when the process ends; the caller must close it after [Proxy.Leave]
	Keep      time.Duration // how long records are stored in Database; 0 means forever
	Record    Record
	Observer  Observer // if nil, calls are not traced
	Meter     Meter    // if nil, calls are not counted

	// Remedy finds a remedy for a refused call, to be included in the refusal. If Remedy is nil,
	// refusals contain no remedies. Remedy receives its own copy of the state. It must not block
	// and must be safe for concurrent use.
	Remedy func(*gate.State, gate.Call, *gate.Refusal) Remedy

	Pipefail bool // whether hooks may add "set -o pipefail" to an agent's script; they do so only if the script's success would not count toward a requirement otherwise, and only for agents whose hooks can change scripts

	// Pins holds the accepted tool definitions. With it, the proxy detects servers that change
	// their definitions. If Pins is nil, servers can change them freely.
	Pins *Pins

	// Advertise selects the tools to list. "all" (the default) lists all tools; "possible" leaves
	// out those returned by Impossible. With "enabled", a client that has sent initialize does not
	// see the tools that a net would block now; see [gate.Session.Advertise]. Advertise never
	// allows a call that a net blocks.
	Advertise string

	// Impossible returns those of the given tools that can never be called as long as the set of
	// active nets stays the same. The second argument contains the names of the active nets, or is
	// nil if all nets are active. Impossible is called after a change to the tools or the nets. If
	// Impossible is nil, every tool is assumed to be possible.
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
