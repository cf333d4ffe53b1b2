package relay

import (
	"context"

	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// relayed returns the request m of c, which is to be passed on to u.
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

// relay sends m to u and passes the answer on. It reports whether that is a
// result.
func (p *Relay) relay(ctx context.Context, c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream, u *pool.Server) bool {
	return p.relayed(c, m, meta, s, u).Serve(ctx)
}
