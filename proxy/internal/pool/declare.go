package pool

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// EnsureDeclared is declare for a client of 2026-07-28, which need not ask
// server/discover: what it can do comes with each of its requests.
func (p *Pool) EnsureDeclared(ctx context.Context, peer session.Peer) {
	if !peer.Rev.PerRequest {
		return // its handshake has declared it
	}
	capabilities := peer.Forwarded()
	for _, u := range p.Servers {
		if !u.Declares(capabilities) {
			p.Declare(ctx, peer)
			return
		}
	}
}

// Declare lets the upstreams of 2025-11-25 know what a client can do.
func (p *Pool) Declare(ctx context.Context, peer session.Peer) {
	for _, u := range p.Servers {
		u.Prefer(peer.Rev)
		u.Intend(peer.Forwarded())
	}
	p.AwaitList(ctx) // to disturb no upstream that has just begun
	ctx, cancel := context.WithTimeout(ctx, p.StartupLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Servers {
		all.Go(func() {
			u.Declare(ctx, peer.Forwarded())
			u.Listing.await(ctx) // so that its client finds the tools that it has for it
		})
	}
	all.Wait()
}
