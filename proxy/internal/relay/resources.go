package relay

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ResourceTables say which upstream has which resource.
type ResourceTables struct {
	listed    table // by URI
	templates table // by URI template
}

// Owner is the upstream that a resource is asked of, as far as that is known:
// the only one, the one whose list has the URI, or the first one with a
// template that it matches. It never is a guess by the look of a URI.
func (r *ResourceTables) Owner(upstreams []*pool.Server, uri string) *pool.Server {
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

// ResourceOwner is owner after the upstreams were asked for their lists, where
// that is needed. It may be down by now.
func (p *Relay) ResourceOwner(ctx context.Context, uri string) *pool.Server {
	p.Pool.AwaitUpstreams(ctx)
	upstreams := p.Pool.Offering("resources")
	if len(upstreams) == 0 {
		return nil
	}
	if u := p.Resources.Owner(p.Pool.Servers, uri); u != nil {
		return u
	}
	p.listResources(ctx, upstreams)
	return p.Resources.Owner(p.Pool.Servers, uri)
}

// listResources asks upstreams for what they have, so that owners are known.
func (p *Relay) listResources(ctx context.Context, upstreams []*pool.Server) {
	p.gatherAll(ctx, ResourceList, upstreams)
	p.gatherAll(ctx, TemplateList, upstreams)
}

// UnknownResource is the error for a URI that no upstream has.
func UnknownResource(id []byte, uri string, client *rev.Rev) []byte {
	return wire.AppendError(nil, id, client.NoResource, "Resource not found", append(rawjson.AppendString([]byte(`{"uri":`), uri), '}'))
}

// Complete serves completion/complete: the prompt or the template that is
// referred to says which upstream knows.
func (p *Relay) Complete(ctx context.Context, c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream) {
	p.Pool.AwaitUpstreams(ctx)
	if len(p.Pool.Offering("completions")) == 0 {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeNoMethod, "Method not found: no upstream completes arguments", nil))
		return
	}
	r := p.relayed(c, m, meta, s, nil)
	if why := p.refer(ctx, r); why != "" {
		s.Reply(spec.RefusedRequest(m.ID, why))
		return
	}
	if r.Upstream == nil || r.Upstream.State().Phase != upstream.Up || !r.Upstream.Has("completions") {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, "no upstream has what the ref names, and completes its arguments", nil))
		return
	}
	at, err := p.Pool.PlaceAndWait(ctx, c, r.Peer, r.Upstream)
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInternal, err.Error(), nil))
		return
	}
	r.Upstream = at
	r.Serve(ctx)
}

// refer finds the upstream of what is to be completed. It returns why that is
// refused, or nothing.
func (p *Relay) refer(ctx context.Context, r *pool.RelayedRequest) (why string) {
	ref, _ := rawjson.Member(r.Message.Params, "ref")
	switch spec.Member(ref, "type") {
	case "ref/prompt":
		i, ok := p.Prompt(ctx, spec.Member(ref, "name"))
		if r.Upstream = i.Upstream; ok && i.Key != i.Exposed {
			r.Change = func(params []byte) []byte { return renamedRef(params, i.Key) }
		}
		if ok {
			why = p.wouldRefuse(r.Client, pool.PromptTool(i), []byte(`{}`))
		}
	case "ref/resource":
		uri := spec.Member(ref, "uri")
		if r.Upstream = p.templateOwner(ctx, uri); r.Upstream != nil {
			why = p.wouldRefuseResource(r.Client, r.Upstream, uri)
		}
	default: // of what nobody knows, no gate can say whether it may be seen
		return ""
	}
	if r.Upstream == nil && len(p.Pool.Servers) == 1 && !p.Admission.Generation().PromptsByList {
		r.Upstream = p.Pool.Servers[0]
	}
	return why
}

func renamedRef(params []byte, name string) []byte {
	ref, _ := rawjson.Member(params, "ref")
	return wire.ReplaceMember(nil, params, "ref", wire.ReplaceMember(nil, ref, "name", rawjson.AppendString(nil, name)))
}

// templateOwner is the upstream that has a template, or a resource, of that URI.
func (p *Relay) templateOwner(ctx context.Context, uri string) *pool.Server {
	if len(p.Pool.Servers) == 1 {
		return p.Pool.Servers[0]
	}
	if i, ok := p.Resources.templates.get(uri); ok {
		return i.Upstream
	}
	u := p.ResourceOwner(ctx, uri)
	if i, ok := p.Resources.templates.get(uri); ok {
		return i.Upstream
	}
	return u
}
