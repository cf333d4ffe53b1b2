package pool

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// EnsureDeclared calls [Pool.Declare] if necessary for a client of 2026-07-28, which declares its
// capabilities with each request and need not send server/discover.
func (p *Pool) EnsureDeclared(ctx context.Context, peer session.Peer) {
	if !peer.Rev.PerRequest {
		return // declared by its handshake
	}
	capabilities := peer.Forwarded()
	for _, u := range p.Servers {
		if !u.Declares(capabilities) {
			p.Declare(ctx, peer)
			return
		}
	}
}

// Declare declares a client's capabilities to the servers of 2025-11-25, and waits until they have
// listed their tools for such a client.
func (p *Pool) Declare(ctx context.Context, peer session.Peer) {
	for _, u := range p.Servers {
		u.Intend(peer.Rev, peer.Forwarded())
	}
	p.AwaitList(ctx) // do not disturb a server that has just started
	ctx, cancel := context.WithTimeout(ctx, p.StartupLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Servers {
		all.Go(func() {
			u.Declare(ctx, peer.Forwarded())
			u.Listing.await(ctx) // so that the client finds the tools that depend on its capabilities
		})
	}
	all.Wait()
}
