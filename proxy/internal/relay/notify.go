package relay

import (
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// AnnounceSoon notifies clients, after a short delay, that a list has changed. It sends only one
// notification for all changes during the delay.
func (p *Relay) AnnounceSoon(method string) {
	due := &p.changes.resources
	if method == spec.PromptsListChanged {
		due = &p.changes.prompts
	}
	if due.Swap(true) {
		return
	}
	p.Life.Background(func() {
		wait.Sleep(p.Life.Ctx, pool.AnnounceEvery)
		due.Store(false)
		p.Announce(method)
	})
}

// AnnounceIfSeen calls AnnounceSoon if a client has fetched the list or subscribed to changes of
// the list. Clients that fetch the list later get the current version anyway.
func (p *Relay) AnnounceIfSeen(method string) {
	for _, c := range p.Sessions.Clients() {
		if seen, subscribers := c.Subscriptions.OfList(method); seen || len(subscribers) > 0 {
			p.AnnounceSoon(method)
			return
		}
	}
}

// Announce sends a list_changed notification to each client that has fetched the list. Clients with
// a handshake receive it on the stream of their session, and clients that use revision 2026-07-28
// on their subscriptions.
func (p *Relay) Announce(method string) {
	if method == spec.ListChanged {
		p.Advertiser.TouchAll()
	}
	plain := wire.AppendNotification(nil, method, nil)
	for _, c := range p.Sessions.Clients() {
		seen, subscribers := c.Subscriptions.OfList(method)
		if seen && c.Out != nil && c.Ready.Load() {
			c.Out.Send(plain)
		}
		for _, s := range subscribers {
			s.Outbox.Add(wire.AppendNotification(nil, method, session.SubscriptionParams(s.ID, "")))
		}
	}
}
