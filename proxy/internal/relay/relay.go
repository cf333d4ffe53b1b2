// Package relay serves the requests of clients that are not calls: lists, resources, prompts,
// completion, subscriptions and log levels. It also notifies clients of changes. If the nets would
// refuse a prompt or resource, requests about it are also refused here.
//
// [Relay] is the main type; each file serves one kind of request. Requests run on the goroutines of
// their callers. Each table is replaced as a whole and read without a lock; serverLevel.mu and
// watchedResources.mu are held while a change is sent to a server, so that the last message to it
// is the latest.
package relay

import (
	"context"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// A Relay serves the requests of clients that are not calls: lists, completion/complete,
// subscriptions and logging/setLevel. It also notifies clients when lists have changed. At first,
// its tables of prompts and resources are empty.
type Relay struct {
	Life       *lifetime.Lifetime
	Streaming  context.Context //nolint:containedctx // ends when streams without an end are to end
	Sessions   *session.Sessions
	Admission  *admission.Admission
	Pool       *pool.Pool
	Advertiser *advertise.Advertiser // nil if every client sees the same tools
	Tasks      *tasks.Tasks
	Reverse    *reverse.Reverse

	prompts   table
	Resources resourceTables
	changes   announcements
	Watched   pool.ByServer[watchedResources]
	Levels    pool.ByServer[serverLevel]
}

// relayed returns a request to u. While the request is waiting for its answer, requests and
// notifications from u are sent to the client.
func (p *Relay) relayed(q session.Request, u *pool.Server) *pool.RelayedRequest {
	r := pool.NewRelayedRequest(q, u)
	r.OnNotification = func(method string, params []byte) {
		if !p.Tasks.Notification(r.Upstream, method, params) {
			r.Notify(method, params)
		}
	}
	r.OnRequest = func(q *upstream.ServerRequest) {
		if !p.Tasks.ServerRequest(r.Upstream, q) && r.CheckCapability(q) {
			p.Reverse.PassOn(r.Client, session.OutboxStream{Outbox: r.Outbox}, r.Upstream, q)
		}
	}
	return r
}

// announcements contains the lists that have a pending list_changed notification.
type announcements struct{ prompts, resources atomic.Bool }
