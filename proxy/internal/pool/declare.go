package pool

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// EnsureDeclared calls [Pool.Declare] for a client that uses revision 2026-07-28, if necessary.
// Such a client declares its capabilities in each request and may never send server/discover.
func (p *Pool) EnsureDeclared(ctx context.Context, peer session.Peer) {
	if !peer.Rev.PerRequest {
		return // the capabilities were declared in initialize
	}
	capabilities := peer.Forwarded()
	for _, u := range p.Servers {
		if !u.Declares(capabilities) {
			p.Declare(ctx, peer)
			return
		}
	}
}

// Declare declares the client's capabilities to all servers that use revision 2025-11-25. It waits
// until the servers have listed the tools that they offer to such a client.
func (p *Pool) Declare(ctx context.Context, peer session.Peer) {
	for _, u := range p.Servers {
		u.Intend(peer.Rev, peer.Forwarded())
	}
	p.AwaitList(ctx) // servers that have just started must not be disturbed
	ctx, cancel := context.WithTimeout(ctx, p.StartupLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Servers {
		all.Go(func() {
			u.Declare(ctx, peer.Forwarded())
			u.Listing.await(ctx) // the client must see the tools that depend on its capabilities
		})
	}
	all.Wait()
}
