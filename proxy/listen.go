package proxy

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// listen serves subscriptions/listen of 2026-07-28 until the client ends it.
func (p *Proxy) listen(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	if rev.Of(meta).Lacks(m.Method) {
		s.Reply(wire.AppendError(nil, m.ID, codeNoMethod, "subscriptions/listen is of revision 2026-07-28", nil))
		return
	}
	p.awaitUpstreams(ctx)
	sub := &subscription{id: string(m.ID), notes: newNotes(), lists: map[string]bool{}}
	filter, _ := rawjson.Member(m.Params, "notifications")
	if _, tasks := rawjson.Member(filter, "taskIds"); tasks && !c.speaker(meta).takesTasks() {
		s.Reply(wire.AppendError(nil, m.ID, codeMissingCapability, "Missing required client capability", missingTasks()))
		return
	}
	agreed := p.agree(ctx, c, sub, filter)
	before := p.catalogue.load()
	if !c.interests.subscribe(sub) {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidRequest, "too many subscriptions are open", nil))
		return
	}
	s.Send(wire.AppendNotification(nil, "notifications/subscriptions/acknowledged", subscriptionParams(sub.id, agreed)))
	if len(agreed) > len(`,"notifications":{}`) {
		if sub.lists["toolsListChanged"] && !p.catalogue.load().shows(before) { // it may have changed before anybody could tell
			s.Send(wire.AppendNotification(nil, listChanged, subscriptionParams(sub.id, "")))
		}
		p.rewatch()
		p.tellNews(ctx, sub, s)
	}
	c.interests.unsubscribe(sub)
	if len(sub.resources) > 0 {
		p.rewatch()
	}
	if ctx.Err() == nil {
		sub.notes.writeTo(s) // what came before the end
		s.Reply(wire.AppendResult(nil, m.ID, subscriptionParams(sub.id, `,"resultType":"complete"`)))
	}
}

// tellNews writes what the subscription is about until it ends.
func (p *Proxy) tellNews(ctx context.Context, sub *subscription, s stream) {
	for {
		select {
		case <-sub.notes.wake:
			sub.notes.writeTo(s)
		case <-ctx.Done():
			return
		case <-p.streaming.Done():
			return
		}
	}
}

// agree takes of the filter what can be had, and returns it as a member.
func (p *Proxy) agree(ctx context.Context, c *client, sub *subscription, filter []byte) string {
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
		if string(wanted) == "true" && (list == "tools" || p.anyCan(list, "listChanged")) {
			sub.lists[name] = true
			add(name, wanted)
		}
	}
	if tasks := p.tasks.agree(c, sub, filter); tasks != nil {
		if agreed[len(agreed)-1] != '{' {
			agreed = append(agreed, ',')
		}
		agreed = append(agreed, tasks...)
	}
	uris, _ := rawjson.Member(filter, "resourceSubscriptions")
	if p.anyCan("resources", "subscribe") {
		var wanted []string
		rawjson.Elements(uris, func(value []byte, _ int) bool {
			if uri, ok := rawjson.String(value); ok {
				wanted = append(wanted, uri)
			}
			return len(wanted) < maxWatched
		})
		sub.resources = p.watchable(ctx, c, wanted)
	}
	if len(sub.resources) > 0 {
		list := []byte{'['}
		for i, uri := range sub.resources {
			if i > 0 {
				list = append(list, ',')
			}
			list = rawjson.AppendString(list, uri)
		}
		add("resourceSubscriptions", append(list, ']'))
	}
	return string(append(agreed, '}'))
}
