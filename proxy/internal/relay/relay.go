// Package relay serves the requests of clients that are no calls: lists, resources,
// prompts, completion, subscriptions and log levels; and it announces changes. What the
// nets would refuse to call is refused here too.
package relay

import (
	"context"

	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Options are what a Relay uses of the rest of the proxy.
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

// A Relay serves the requests of clients that are not calls: lists, completion/complete,
// subscriptions and logging/setLevel. It also notifies clients of changed lists.
type Relay struct {
	Options
	prompts   table
	Resources resourceTables
	changes   announcements
	Watched   pool.ByServer[watchedResources]
	Levels    pool.ByServer[serverLevel]
}

// New returns a Relay that knows of no prompts and resources yet.
func New(o Options) *Relay { return &Relay{Options: o} }

// relayed returns the request m of c for u. Requests and notifications that u sends
// meanwhile go to c.
func (p *Relay) relayed(c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream, u *pool.Server) *pool.RelayedRequest {
	r := pool.NewRelayedRequest(c, m, meta, s, u)
	r.OnNotification = func(method string, params []byte) {
		if !p.Tasks.Notification(r.Upstream, method, params) {
			r.Notify(method, params)
		}
	}
	r.OnRequest = func(q *upstream.ServerRequest) {
		if !p.Tasks.ServerRequest(r.Upstream, q) && r.MayAsk(q) {
			p.Reverse.PassOn(r.Client, session.OutboxStream{Outbox: r.Outbox}, r.Upstream, q)
		}
	}
	return r
}

// relay sends m to u and passes the response to c. It reports whether that is a result.
func (p *Relay) relay(ctx context.Context, c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream, u *pool.Server) bool {
	return p.relayed(c, m, meta, s, u).Serve(ctx)
}
