package router

import (
	"bytes"
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ClientRequest serves one request of a client that is not a call, and returns when it is
// answered. It serves every transport and both families of revisions. A method that it
// does not name goes to [Router.handshake], which refuses unknown ones: none is relayed.
func (r *Router) ClientRequest(ctx context.Context, c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream) {
	switch m.Method {
	case "tools/list":
		r.toolsList(ctx, c, m, meta, s)
	case "subscriptions/listen":
		r.Relay.Listen(ctx, c, m, meta, s)
	case "logging/setLevel":
		if rev.Of(meta).Lacks(m.Method) { // each request says its level instead
			s.Reply(wire.AppendError(nil, m.ID, spec.CodeNoMethod, "logging/setLevel is not of this revision", nil))
			return
		}
		r.Relay.SetLevel(ctx, c, m, s)
	case "prompts/list":
		r.Relay.List(ctx, c, m, meta, s, relay.PromptList)
	case "resources/list":
		r.Relay.List(ctx, c, m, meta, s, relay.ResourceList)
	case "resources/templates/list":
		r.Relay.List(ctx, c, m, meta, s, relay.TemplateList)
	case "completion/complete":
		r.Relay.Complete(ctx, c, m, meta, s)
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		r.Pool.AwaitUpstreams(ctx)
		r.Tasks.Serve(ctx, c, m, meta, s)
	case "tasks/list":
		r.Pool.AwaitUpstreams(ctx)
		r.Tasks.List(c, m, meta, s)
	case "resources/subscribe", "resources/unsubscribe":
		if rev.Of(meta).Lacks(m.Method) { // subscriptions/listen says what is watched
			s.Reply(wire.AppendError(nil, m.ID, spec.CodeNoMethod, m.Method+" is not of this revision", nil))
			return
		}
		r.Relay.Watch(ctx, c, m, s)
	default:
		r.handshake(ctx, c, m, s)
	}
}

// ClientNotification acts on a notification of a client.
func (r *Router) ClientNotification(c *session.Client, m wire.Message) {
	switch m.Method {
	case "notifications/initialized":
		c.Ready.Store(true)
		if r.Sessions.LogLevelSet.Load() {
			r.Life.Background(func() { r.Relay.Relevel(r.Life.Ctx) })
		}
		r.rootsChanged(c, nil) // some servers ask for them once they may have changed
	case "notifications/cancelled":
		c.Requests.Cancelled(m.Params)
	case "notifications/progress":
		reverse.Progressed(c, m.Params)
	case "notifications/roots/list_changed":
		r.rootsChanged(c, m.Params)
	case spec.CallTool, spec.GetPrompt, spec.ReadResource:
		r.Life.Log.Warn("a call without an id is never made", "session", c.Session.ID)
	}
}

// rootsChanged sends notifications/roots/list_changed of a client to the servers of
// 2025-11-25.
func (r *Router) rootsChanged(c *session.Client, params []byte) {
	if !c.PeerOf(wire.Meta{}).Answers("roots/list", nil) {
		return
	}
	for _, u := range r.Pool.ConnectionsOf(c) {
		if u.State().Phase == upstream.Up && !u.Rev().Lacks("notifications/roots/list_changed") {
			u.Notify("notifications/roots/list_changed", bytes.Clone(params))
		}
	}
}

// toolsList answers tools/list, in one page.
func (r *Router) toolsList(ctx context.Context, c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream) {
	if _, paged := rawjson.Member(m.Params, "cursor"); paged {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, "Unknown cursor: the list has one page.", nil))
		return
	}
	r.Pool.EnsureDeclared(ctx, c.PeerOf(meta))
	r.Pool.AwaitList(ctx)
	of := rev.Of(meta)
	if !of.Subscriptions && r.Advertiser != nil {
		s.Reply(wire.ResultHead(m.ID), r.Advertiser.List(c), wire.Tail)
		return
	}
	if !of.Subscriptions {
		c.Subscriptions.SawList(spec.ListChanged)
	}
	view := r.Pool.Catalogue.Load()
	list := view.List
	if of.ResultType {
		list = view.List2026
	}
	s.Reply(wire.ResultHead(m.ID), list, wire.Tail)
}
