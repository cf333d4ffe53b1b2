package proxy

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/listing"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// resourceTables say which upstream has which resource.
type resourceTables struct {
	listed    table // by URI
	templates table // by URI template
}

// owner is the upstream that a resource is asked of, as far as that is known:
// the only one, the one whose list has the URI, or the first one with a
// template that it matches. It never is a guess by the look of a URI.
func (r *resourceTables) owner(upstreams []*upstreamState, uri string) *upstreamState {
	if len(upstreams) == 1 {
		return upstreams[0]
	}
	if i, ok := r.listed.get(uri); ok {
		return i.upstream
	}
	view := r.templates.view.Load()
	if view == nil {
		return nil
	}
	for _, u := range upstreams {
		for template, i := range *view {
			if i.upstream == u && listing.MatchesTemplate(template, uri) {
				return u
			}
		}
	}
	return nil
}

// resourceOwner is owner after the upstreams were asked for their lists, where
// that is needed. It may be down by now.
func (p *Proxy) resourceOwner(ctx context.Context, uri string) *upstreamState {
	p.awaitUpstreams(ctx)
	upstreams := p.offering("resources")
	if len(upstreams) == 0 {
		return nil
	}
	if u := p.resources.owner(p.upstreams, uri); u != nil {
		return u
	}
	p.listResources(ctx, upstreams)
	return p.resources.owner(p.upstreams, uri)
}

// listResources asks upstreams for what they have, so that owners are known.
func (p *Proxy) listResources(ctx context.Context, upstreams []*upstreamState) {
	p.gatherAll(ctx, resourceList, upstreams)
	p.gatherAll(ctx, templateList, upstreams)
}

// unknownResource is the error for a URI that no upstream has.
func unknownResource(id []byte, uri string, client *rev.Rev) []byte {
	return wire.AppendError(nil, id, client.NoResource, "Resource not found", append(rawjson.AppendString([]byte(`{"uri":`), uri), '}'))
}

// complete serves completion/complete: the prompt or the template that is
// referred to says which upstream knows.
func (p *Proxy) complete(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	p.awaitUpstreams(ctx)
	if len(p.offering("completions")) == 0 {
		s.Reply(wire.AppendError(nil, m.ID, codeNoMethod, "Method not found: no upstream completes arguments", nil))
		return
	}
	r := p.relayed(c, m, meta, s, nil)
	if why := p.refer(ctx, r); why != "" {
		s.Reply(refusedRequest(m.ID, why))
		return
	}
	if r.upstream == nil || r.upstream.State().Phase != upstream.Up || !r.upstream.has("completions") {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, "no upstream has what the ref names, and completes its arguments", nil))
		return
	}
	at, err := p.placed(ctx, c, r.agent, r.upstream)
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, codeInternal, err.Error(), nil))
		return
	}
	r.upstream = at
	r.serve(ctx)
}

// refer finds the upstream of what is to be completed. It returns why that is
// refused, or nothing.
func (p *Proxy) refer(ctx context.Context, r *relayed) (why string) {
	ref, _ := rawjson.Member(r.message.Params, "ref")
	switch member(ref, "type") {
	case "ref/prompt":
		i, ok := p.prompt(ctx, member(ref, "name"))
		if r.upstream = i.upstream; ok && i.key != i.exposed {
			r.change = func(params []byte) []byte { return renamedRef(params, i.key) }
		}
		if ok {
			why = p.wouldRefuse(r.client, promptTool(i), []byte(`{}`))
		}
	case "ref/resource":
		uri := member(ref, "uri")
		if r.upstream = p.templateOwner(ctx, uri); r.upstream != nil {
			why = p.wouldRefuseResource(r.client, r.upstream, uri)
		}
	default: // of what nobody knows, no gate can say whether it may be seen
		return ""
	}
	if r.upstream == nil && len(p.upstreams) == 1 && !p.admission.Generation().PromptsByList {
		r.upstream = p.upstreams[0]
	}
	return why
}

func renamedRef(params []byte, name string) []byte {
	ref, _ := rawjson.Member(params, "ref")
	return wire.ReplaceMember(nil, params, "ref", wire.ReplaceMember(nil, ref, "name", rawjson.AppendString(nil, name)))
}

// templateOwner is the upstream that has a template, or a resource, of that URI.
func (p *Proxy) templateOwner(ctx context.Context, uri string) *upstreamState {
	if len(p.upstreams) == 1 {
		return p.upstreams[0]
	}
	if i, ok := p.resources.templates.get(uri); ok {
		return i.upstream
	}
	u := p.resourceOwner(ctx, uri)
	if i, ok := p.resources.templates.get(uri); ok {
		return i.upstream
	}
	return u
}
