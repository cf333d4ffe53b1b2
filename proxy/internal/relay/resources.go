package relay

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ResourceOwner returns the server that has a resource. If necessary, it requests the lists of the
// servers. The server that it returns may be down.
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

// listResources requests the lists of resources and templates from the servers.
func (p *Relay) listResources(ctx context.Context, upstreams []*pool.Server) {
	p.gatherAll(ctx, ResourceList, upstreams)
	p.gatherAll(ctx, TemplateList, upstreams)
}

// UnknownResource returns the error for a URI that is not offered by any server.
func UnknownResource(id []byte, uri string, client *rev.Rev) *wire.Fault {
	return &wire.Fault{ID: id, Code: client.NoResource, Message: "Resource not found", Data: uriParams(uri)}
}

// Complete serves completion/complete. It sends the request to the server that has the prompt or
// template named in ref.
func (p *Relay) Complete(ctx context.Context, q session.Request) ([]byte, error) {
	p.Pool.AwaitUpstreams(ctx)
	if len(p.Pool.Offering("completions")) == 0 {
		return nil, wire.NewFault(wire.CodeMethodNotFound, "Method not found: no upstream completes arguments")
	}
	r := p.relayed(q, nil)
	if why := p.findReferenced(ctx, r); why != "" {
		return nil, wire.NewFault(wire.CodeInvalidRequest, why)
	}
	if r.Upstream == nil || r.Upstream.State().Phase != upstream.Up || !r.Upstream.Has("completions") {
		return nil, wire.NewFault(wire.CodeInvalidParams, "no upstream completes the arguments of this ref")
	}
	at, err := p.Pool.PlaceAndWait(ctx, q.Client, r.Peer, r.Upstream)
	if err != nil {
		return nil, err
	}
	r.Upstream = at
	return r.Serve(ctx)
}

// findReferenced sets the server that has the prompt or template named in ref. If the policy
// refuses the request, it returns the reason; otherwise, it returns "".
func (p *Relay) findReferenced(ctx context.Context, r *pool.RelayedRequest) (why string) {
	ref, _ := rawjson.Member(r.Message.Params, "ref")
	switch rawjson.StringAt(ref, "type") {
	case "ref/prompt":
		i, ok := p.Prompt(ctx, rawjson.StringAt(ref, "name"))
		if r.Upstream = i.Upstream; ok && i.Key != i.Exposed {
			r.Change = func(params []byte) []byte { return renamedRef(params, i.Key) }
		}
		if ok {
			why = p.wouldRefuse(r.Client, pool.PromptTool(i), []byte(`{}`))
		}
	case "ref/resource":
		uri := rawjson.StringAt(ref, "uri")
		if r.Upstream = p.templateOwner(ctx, uri); r.Upstream != nil {
			why = p.wouldRefuseResource(r.Client, r.Upstream, uri)
		}
	default: // the gate cannot decide a ref of an unknown kind
		return ""
	}
	if r.Upstream == nil && len(p.Pool.Servers) == 1 && !p.Admission.Generation().PromptsByList {
		r.Upstream = p.Pool.Servers[0]
	}
	return why
}

// renamedRef returns the params with the server's own name of the prompt.
func renamedRef(params []byte, name string) []byte {
	ref, _ := rawjson.Member(params, "ref")
	return wire.ReplaceMember(nil, params, "ref", wire.ReplaceMember(nil, ref, "name", rawjson.AppendString(nil, name)))
}

// templateOwner returns the server that has the template or resource with the given URI, or nil.
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
