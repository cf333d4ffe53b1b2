package relay

import (
	"context"

	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// Options says what a Relay needs of the rest of the proxy.
type Options struct {
	Life       *lifetime.Lifetime
	Streaming  context.Context //nolint:containedctx // ends when streams without an end are to end
	Sessions   *session.Sessions
	Admission  *admission.Admission
	Pool       *pool.Pool
	Advertiser *advertise.Advertiser // nil: every client is shown the same tools
	Tasks      *tasks.Tasks
	Reverse    *reverse.Reverse
}

// A Relay serves the requests of clients that are no calls: lists, resources, prompts,
// completion, subscriptions and log levels; and it announces changes.
type Relay struct {
	Options
	prompts   table
	Resources ResourceTables
	changes   announcements
	Watched   pool.ByServer[WatchedResources]
	Levels    pool.ByServer[ServerLevel]
}

// New returns a Relay that knows of no prompts and resources yet.
func New(o Options) *Relay { return &Relay{Options: o} }
