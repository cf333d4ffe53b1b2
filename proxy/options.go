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

// Options configures a Proxy. The zero value is ready to use and fails closed: no upstreams, no
// approvals.
type Options struct {
	Upstreams []Upstream
	Policy    *gate.Policy  // nil: no nets, every call passes
	Active    []string      // nets that are active at the start; nil: all
	Root      string        // positions of rules below this folder are shown relative to it
	Recorder  Recorder      // nil: records are written only to Database, if set
	Database  Database      // nil: state is lost when the process ends. The caller closes it after [Proxy.Leave]
	Keep      time.Duration // maximum age of records in Database; 0: unlimited
	Record    Record
	Observer  Observer // nil: calls are not traced
	Meter     Meter    // nil: calls are not counted

	// Remedy finds a remedy for a refusal, which the refusal then names; nil: no remedies. It gets
	// a state of its own. It must not block and must be safe for concurrent use.
	Remedy func(*gate.State, gate.Call, *gate.Refusal) Remedy

	Pipefail bool // agents whose hooks can change a script run it with set -o pipefail, if only that is missing for evidence

	// Pins holds the accepted definitions of tools, to detect servers that change them; nil:
	// servers can change them freely.
	Pins *Pins

	// Advertise selects the tools that are listed: "all" or empty; all except those in Impossible
	// ("possible"); or, for clients with a handshake, only those that no net would block now
	// ("enabled"). It never allows a call that a net blocks.
	Advertise string

	// Impossible returns those of the tools that can never be called while the nets in active are
	// active (all nets if active is nil). nil: unknown. It is called when the tools or the nets
	// have changed.
	Impossible func(tools []gate.Call, active []string) []string

	Session    SessionWay // which session a call is in
	Approval   Approval
	Startup    time.Duration // how long the first list waits for upstreams; 0: 10 s
	MaxRequest int           // maximum bytes of a client's message; 0: 4 MiB
	MaxResult  int           // maximum bytes of an upstream's message; 0: 64 MiB
	Logger     *slog.Logger  // nil: discard
	Version    string
	Now        func() time.Time // nil: time.Now
}

// parts are the parts of a proxy, and its options. They are set before the proxy starts and do not
// change.
type parts struct {
	options  Options
	life     *lifetime.Lifetime
	started  time.Time
	watchdog *upstream.Watchdog
	where    func(gate.Position) string // formats a position for people

	startup    context.Context //nolint:containedctx // ends when lists no longer wait for upstreams
	endStartup context.CancelFunc
	endStreams context.CancelFunc

	approvals *approval.Broker
	pin       *pin.PIN // PIN for approvals; nil: none
	admission *admission.Admission
	durable   *store.Durable // ledger in a database; nil: in memory
	watcher   *store.Watcher // set with durable
	rounds    *rounds.Keeper // set with durable

	sessions   *session.Sessions
	pool       *pool.Pool
	tasks      *tasks.Tasks
	reverse    *reverse.Reverse
	advertiser *advertise.Advertiser // nil: every client sees the same tools
	relay      *relay.Relay
	pipeline   *pipeline.Pipeline
	router     *router.Router
	front      *front.Front
}
