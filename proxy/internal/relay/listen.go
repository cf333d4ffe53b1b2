package relay

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Listen serves subscriptions/listen (2026-07-28) until the client or the proxy ends the
// subscription.
func (p *Relay) Listen(ctx context.Context, q session.Request) ([]byte, error) {
	c, s := q.Client, q.Stream
	if q.Rev().Lacks(q.Message.Method) {
		return nil, wire.NewFault(wire.CodeMethodNotFound, "subscriptions/listen requires revision 2026-07-28")
	}
	p.Pool.AwaitUpstreams(ctx)
	sub := &session.Subscription{ID: string(q.Message.ID), Outbox: session.NewOutbox(), Lists: map[string]bool{}}
	filter, _ := rawjson.Member(q.Message.Params, "notifications")
	if _, tasks := rawjson.Member(filter, "taskIds"); tasks && !q.Peer().TakesTasks() {
		return nil, spec.LacksTasks()
	}
	agreed := p.subscribeSupported(ctx, c, sub, filter)
	before := p.Pool.Catalogue.Load()
	if !c.Subscriptions.Subscribe(sub) {
		return nil, wire.NewFault(wire.CodeInvalidRequest, "too many subscriptions are open")
	}
	params := session.SubscriptionParams(sub.ID, `,"notifications":`+string(agreed.Bytes()))
	s.Send(wire.AppendNotification(nil, "notifications/subscriptions/acknowledged", params))
	if agreed != nil {
		if sub.Lists["toolsListChanged"] && !p.Pool.Catalogue.Load().ShowsSame(before) { // the tools may have changed just before the subscription was opened
			s.Send(wire.AppendNotification(nil, spec.ListChanged, session.SubscriptionParams(sub.ID, "")))
		}
		p.Rewatch()
		p.writeNotifications(ctx, sub, s)
	}
	c.Subscriptions.Unsubscribe(sub)
	if len(sub.Resources) > 0 {
		p.Rewatch()
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	sub.Outbox.WriteTo(s) // sends the notifications that are still queued
	return session.SubscriptionParams(sub.ID, `,"resultType":"complete"`), nil
}

// writeNotifications writes a subscription's notifications until it ends.
func (p *Relay) writeNotifications(ctx context.Context, sub *session.Subscription, s spec.Stream) {
	for {
		select {
		case <-sub.Outbox.Wake:
			sub.Outbox.WriteTo(s)
		case <-ctx.Done():
			return
		case <-p.Streaming.Done():
			return
		}
	}
}

// subscribeSupported adds the notifications requested in the filter to the subscription sub. It
// omits notifications that the servers do not support, resources that the client cannot watch (see
// watchable), and tasks of other sessions. If there are too many resources or tasks, it omits those
// beyond the limits. It returns a filter that contains only the added notifications.
func (p *Relay) subscribeSupported(ctx context.Context, c *session.Client, sub *session.Subscription, filter []byte) (agreed rawjson.Object) {
	for _, list := range []string{"tools", "prompts", "resources"} {
		name := list + "ListChanged"
		wanted, _ := rawjson.Member(filter, name)
		if string(wanted) == "true" && (list == "tools" || p.Pool.AnyHasFlag(list, "listChanged")) {
			sub.Lists[name] = true
			agreed = agreed.Raw(name, wanted)
		}
	}
	if ids := p.Tasks.Agree(c, sub, filter); len(sub.Tasks) > 0 {
		agreed = agreed.Raw("taskIds", ids)
	}
	uris, _ := rawjson.Member(filter, "resourceSubscriptions")
	if p.Pool.AnyHasFlag("resources", "subscribe") {
		var wanted []string
		rawjson.Elements(uris, func(value []byte, _ int) bool {
			if uri, ok := rawjson.String(value); ok {
				wanted = append(wanted, uri)
			}
			return len(wanted) < session.MaxWatched
		})
		sub.Resources = p.watchable(ctx, c, wanted)
	}
	if len(sub.Resources) > 0 {
		agreed = agreed.Raw("resourceSubscriptions", rawjson.StringArray(sub.Resources))
	}
	return agreed
}

// AnnounceSoon notifies clients, after a short delay, that a list has changed. One notification
// covers all changes during the delay.
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

// AnnounceIfSeen calls AnnounceSoon if a client has fetched the list or subscribed to its changes.
// Clients that fetch the list later get the current version anyway.
func (p *Relay) AnnounceIfSeen(method string) {
	for _, c := range p.Sessions.Clients() {
		if seen, subscribers := c.Subscriptions.OfList(method); seen || len(subscribers) > 0 {
			p.AnnounceSoon(method)
			return
		}
	}
}

// Announce sends a list_changed notification to each client that has fetched the list or subscribed
// to it. A client that has sent notifications/initialized receives it on the stream of its session.
// A client that uses revision 2026-07-28 receives it on its subscriptions.
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
