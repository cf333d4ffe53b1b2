package router

import (
	"bytes"
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ClientRequest serves a client's request that is not a call, for all transports and both revision
// families. If the client has stopped waiting, both the result and the error are nil.
// [Router.handshake] handles the methods that are not listed below. It refuses unknown methods,
// because the proxy never forwards them.
func (r *Router) ClientRequest(ctx context.Context, q session.Request) ([]byte, error) {
	switch method := q.Message.Method; method {
	case "tools/list":
		return r.toolsList(ctx, q)
	case "subscriptions/listen":
		return r.Relay.Listen(ctx, q)
	case "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		switch {
		case q.Rev().Lacks(method): // revision 2026-07-28 replaces these methods with a log level in each request and with subscriptions/listen
			return nil, wire.NewFault(wire.CodeMethodNotFound, method+" is not of this revision")
		case method == "logging/setLevel":
			return r.Relay.SetLevel(ctx, q)
		}
		return r.Relay.Watch(ctx, q)
	case "prompts/list":
		return r.Relay.List(ctx, q, relay.PromptList)
	case "resources/list":
		return r.Relay.List(ctx, q, relay.ResourceList)
	case "resources/templates/list":
		return r.Relay.List(ctx, q, relay.TemplateList)
	case "completion/complete":
		return r.Relay.Complete(ctx, q)
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		r.Pool.AwaitUpstreams(ctx)
		return r.Tasks.Serve(ctx, q)
	case "tasks/list":
		r.Pool.AwaitUpstreams(ctx)
		return r.Tasks.List(q)
	}
	return r.handshake(ctx, q)
}

// ClientNotification handles a notification from a client.
func (r *Router) ClientNotification(c *session.Client, m wire.Message) {
	switch m.Method {
	case "notifications/initialized":
		c.Ready.Store(true)
		if r.Sessions.LogLevelSet.Load() {
			r.Life.Background(func() { r.Relay.Relevel(r.Life.Ctx) })
		}
		r.rootsChanged(c, nil) // some servers then request the client's roots
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

// rootsChanged forwards a client's notifications/roots/list_changed to the servers that use
// revision 2025-11-25.
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

// toolsList serves tools/list with a single page.
func (r *Router) toolsList(ctx context.Context, q session.Request) ([]byte, error) {
	if _, paged := rawjson.Member(q.Message.Params, "cursor"); paged {
		return nil, wire.NewFault(wire.CodeInvalidParams, "Unknown cursor: the list has one page.")
	}
	r.Pool.EnsureDeclared(ctx, q.Peer())
	r.Pool.AwaitList(ctx)
	if !q.Rev().Subscriptions {
		if r.Advertiser != nil {
			return r.Advertiser.List(q.Client), nil
		}
		q.Client.Subscriptions.SawList(spec.ListChanged)
	}
	view := r.Pool.Catalogue.Load()
	if q.Rev().ResultType {
		return view.List2026, nil
	}
	return view.List, nil
}
