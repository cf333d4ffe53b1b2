// Package relay serves clients' requests that are not calls: lists of prompts and resources,
// completion, subscriptions and log levels. It also finds the servers that offer a prompt or
// resource, and notifies clients of changes. If the nets would refuse a prompt or resource, requests
// about it are refused here, too.
//
// [Relay] is the main type; each file serves one kind of request. Requests run on the goroutines of
// their callers. Each table of prompts or resources is replaced as a whole and read without a lock.
// serverLevel.mu and watchedResources.mu are held while a change is sent to a server, so that the
// last message to the server carries the latest change.
package relay

import (
	"context"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// A Relay serves clients' requests that are not calls: lists, completion/complete, subscriptions
// and logging/setLevel. It also notifies clients of changes to lists. Its tables of prompts and
// resources start out empty.
type Relay struct {
	Life       *lifetime.Lifetime
	Streaming  context.Context //nolint:containedctx // done when open-ended streams must end
	Sessions   *session.Sessions
	Admission  *admission.Admission
	Pool       *pool.Pool
	Advertiser *advertise.Advertiser // notified when the list of tools has changed; nil if all clients see the same tools
	Tasks      *tasks.Tasks

	prompts   table
	Resources resourceTables
	changes   announcements
	Watched   pool.ServerMap[watchedResources]
	Levels    pool.ServerMap[serverLevel]
}

// newRequest returns a request that relays q to the server u. If u is nil, the caller must set the
// server later. While the request is open, the client receives the requests and notifications that
// the server sends.
func (p *Relay) newRequest(q session.Request, u *pool.Server) *pool.RelayedRequest {
	r := pool.NewRelayedRequest(q, u)
	p.Tasks.Attach(r)
	return r
}

// announcements records whether clients will soon be notified of a change to the list of prompts or
// resources.
type announcements struct{ prompts, resources atomic.Bool }

// wouldRefuse returns the reason why the gate would now refuse a call to the prompt or resource t,
// or "" if the gate would not refuse it. Completions and notifications for a refused item are also
// refused, because they would reveal something about the item. The check has no side effects: it
// does not change a marking, write a record, or ask a person.
func (p *Relay) wouldRefuse(c *session.Client, t *pool.Tool, args []byte) string {
	call := gate.Call{Tool: t.Canonical, Args: args, Time: p.Life.Now(), Upstream: t.Upstream.Config.Name}
	state, err := p.Pool.Snapshot(c.State)
	if err != nil {
		return "The " + err.Error() + "."
	}
	d, _ := state.Policy().Decide(state, call, nil)
	r, refused := d.(*gate.Refusal)
	if !refused {
		return ""
	}
	p.Life.Log.Info("request refused", "about", text.Escape(t.Canonical), "session", c.State.ID, "kind", string(r.Kind), "reason", r.Text)
	return r.Text
}

// wouldRefuseResource is like wouldRefuse, but for the resource or resource template with the given
// URI. For a template, the gate judges the template itself, not the URIs that match it.
func (p *Relay) wouldRefuseResource(c *session.Client, u *pool.Server, uri string) string {
	return p.wouldRefuse(c, pool.ResourceTool(u, uri), uriParams(uri))
}

// A table maps the names of items to the servers that offer them, according to the latest lists.
type table struct {
	view atomic.Pointer[map[string]pool.Item] // items, keyed by exposed name
}

func (t *table) set(items []pool.Item) {
	byName := make(map[string]pool.Item, len(items))
	for _, i := range items {
		byName[i.Exposed] = i
	}
	t.view.Store(&byName)
}

func (t *table) get(name string) (pool.Item, bool) {
	view := t.view.Load()
	if view == nil {
		return pool.Item{}, false
	}
	i, ok := (*view)[name]
	return i, ok
}

// resourceTables maps resources to their servers.
type resourceTables struct {
	listed    table // resources in lists, keyed by URI
	templates table // resource templates, keyed by URI template
}

// Owner returns the server that has a resource: the only server, the server that lists the URI, or
// the first server with a matching template. If no server has the resource, Owner returns nil. The
// URI need not be valid.
func (r *resourceTables) Owner(upstreams []*pool.Server, uri string) *pool.Server {
	if len(upstreams) == 1 {
		return upstreams[0]
	}
	if i, ok := r.listed.get(uri); ok {
		return i.Upstream
	}
	view := r.templates.view.Load()
	if view == nil {
		return nil
	}
	for _, u := range upstreams {
		for template, i := range *view {
			if i.Upstream == u && listing.MatchesTemplate(template, uri) {
				return u
			}
		}
	}
	return nil
}

func uriParams(uri string) []byte { return rawjson.Object{}.String("uri", uri).Bytes() }
