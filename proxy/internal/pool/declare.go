package pool

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/session"
)

// EnsureDeclared calls [Pool.Declare] if necessary for a client of revision 2026-07-28. Such a
// client declares its capabilities in each request and need not send server/discover.
func (p *Pool) EnsureDeclared(ctx context.Context, peer session.Peer) {
	if !peer.Rev.PerRequest {
		return // already declared in initialize
	}
	capabilities := peer.Forwarded()
	for _, u := range p.Servers {
		if !u.Declares(capabilities) {
			p.Declare(ctx, peer)
			return
		}
	}
}

// Declare declares the client's capabilities to all servers of revision 2025-11-25. It waits until
// they have listed their tools for such a client.
func (p *Pool) Declare(ctx context.Context, peer session.Peer) {
	for _, u := range p.Servers {
		u.Intend(peer.Rev, peer.Forwarded())
	}
	p.AwaitList(ctx) // do not disturb servers that have just started
	ctx, cancel := context.WithTimeout(ctx, p.StartupLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Servers {
		all.Go(func() {
			u.Declare(ctx, peer.Forwarded())
			u.Listing.await(ctx) // the client must find the tools that depend on its capabilities
		})
	}
	all.Wait()
}
