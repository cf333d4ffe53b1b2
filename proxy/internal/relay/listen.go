package relay

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Listen serves subscriptions/listen (2026-07-28) until the client ends it.
func (p *Relay) Listen(ctx context.Context, c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream) {
	if rev.Of(meta).Lacks(m.Method) {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeNoMethod, "subscriptions/listen is of revision 2026-07-28", nil))
		return
	}
	p.Pool.AwaitUpstreams(ctx)
	sub := &session.Subscription{ID: string(m.ID), Outbox: session.NewOutbox(), Lists: map[string]bool{}}
	filter, _ := rawjson.Member(m.Params, "notifications")
	if _, tasks := rawjson.Member(filter, "taskIds"); tasks && !c.PeerOf(meta).TakesTasks() {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeMissingCapability, "Missing required client capability", spec.MissingTasks()))
		return
	}
	agreed := p.agree(ctx, c, sub, filter)
	before := p.Pool.Catalogue.Load()
	if !c.Subscriptions.Subscribe(sub) {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidRequest, "too many subscriptions are open", nil))
		return
	}
	s.Send(wire.AppendNotification(nil, "notifications/subscriptions/acknowledged", session.SubscriptionParams(sub.ID, agreed)))
	if len(agreed) > len(`,"notifications":{}`) {
		if sub.Lists["toolsListChanged"] && !p.Pool.Catalogue.Load().Shows(before) { // it may have changed before anybody could tell
			s.Send(wire.AppendNotification(nil, spec.ListChanged, session.SubscriptionParams(sub.ID, "")))
		}
		p.Rewatch()
		p.tellNews(ctx, sub, s)
	}
	c.Subscriptions.Unsubscribe(sub)
	if len(sub.Resources) > 0 {
		p.Rewatch()
	}
	if ctx.Err() == nil {
		sub.Outbox.WriteTo(s) // what came before the end
		s.Reply(wire.AppendResult(nil, m.ID, session.SubscriptionParams(sub.ID, `,"resultType":"complete"`)))
	}
}

// tellNews writes the notifications of a subscription until it ends.
func (p *Relay) tellNews(ctx context.Context, sub *session.Subscription, s spec.Stream) {
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

// agree subscribes to the part of the filter that the servers support, and returns that
// part as a member.
func (p *Relay) agree(ctx context.Context, c *session.Client, sub *session.Subscription, filter []byte) string {
	agreed := []byte(`,"notifications":{`)
	add := func(name string, value []byte) {
		if agreed[len(agreed)-1] != '{' {
			agreed = append(agreed, ',')
		}
		agreed = append(append(append(append(agreed, '"'), name...), `":`...), value...)
	}
	for _, list := range []string{"tools", "prompts", "resources"} {
		name := list + "ListChanged"
		wanted, _ := rawjson.Member(filter, name)
		if string(wanted) == "true" && (list == "tools" || p.Pool.AnyCan(list, "listChanged")) {
			sub.Lists[name] = true
			add(name, wanted)
		}
	}
	if tasks := p.Tasks.Agree(c, sub, filter); tasks != nil {
		if agreed[len(agreed)-1] != '{' {
			agreed = append(agreed, ',')
		}
		agreed = append(agreed, tasks...)
	}
	uris, _ := rawjson.Member(filter, "resourceSubscriptions")
	if p.Pool.AnyCan("resources", "subscribe") {
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
		list := []byte{'['}
		for i, uri := range sub.Resources {
			if i > 0 {
				list = append(list, ',')
			}
			list = rawjson.AppendString(list, uri)
		}
		add("resourceSubscriptions", append(list, ']'))
	}
	return string(append(agreed, '}'))
}
