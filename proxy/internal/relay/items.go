package relay

import (
	"context"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// allowsAnyPrompt reports whether clients can also get prompts that are not listed. This is
// possible only if there is a single server.
func (p *Relay) allowsAnyPrompt() bool {
	return !p.Admission.Generation().PromptsByList && p.passesThrough(PromptList)
}

// NamesPrompts reports whether a net that enforces its decisions names a prompt. Clients can then
// get only listed prompts. Otherwise, they could evade the net with a different spelling that the
// server accepts.
func NamesPrompts(policy *gate.Policy) bool {
	for _, n := range policy.Nets() {
		for _, t := range n.Transitions {
			if !n.Shadow && slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return strings.HasPrefix(tool.Name, "prompt:") }) {
				return true
			}
		}
	}
	return false
}

// Prompt returns the prompt that clients know by the given name, requesting the servers' lists if
// necessary.
func (p *Relay) Prompt(ctx context.Context, name string) (pool.Item, bool) {
	p.Pool.AwaitUpstreams(ctx)
	if i, ok := p.KnownPrompt(name); ok {
		return i, true
	}
	upstreams := p.Pool.ServersWith("prompts")
	if len(upstreams) == 0 || p.allowsAnyPrompt() {
		return pool.Item{}, false
	}
	p.gatherAll(ctx, PromptList, upstreams)
	return p.prompts.get(name)
}

// KnownPrompt is like Prompt, but never sends a request to a server.
func (p *Relay) KnownPrompt(name string) (pool.Item, bool) {
	if !p.allowsAnyPrompt() {
		return p.prompts.get(name)
	}
	upstreams := p.Pool.ServersWith("prompts")
	if len(upstreams) == 0 {
		return pool.Item{}, false
	}
	return pool.Item{Upstream: upstreams[0], Key: name, Exposed: name}, true
}

// ResourceOwner returns the server that offers the resource with the given URI, requesting the
// servers' lists if necessary. The server may be down.
func (p *Relay) ResourceOwner(ctx context.Context, uri string) *pool.Server {
	p.Pool.AwaitUpstreams(ctx)
	upstreams := p.Pool.ServersWith("resources")
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

// UnknownResource returns the error for a URI that no server offers.
func UnknownResource(id []byte, uri string, client *rev.Rev) *wire.Fault {
	return &wire.Fault{ID: id, Code: client.NoResource, Message: "Resource not found", Data: uriParams(uri)}
}

// Complete serves completion/complete by asking the server that offers the prompt or template in
// the parameter ref.
func (p *Relay) Complete(ctx context.Context, q session.Request) ([]byte, error) {
	p.Pool.AwaitUpstreams(ctx)
	if len(p.Pool.ServersWith("completions")) == 0 {
		return nil, wire.NewFault(wire.CodeMethodNotFound, "Method not found: no upstream completes arguments")
	}
	r := p.newRequest(q, nil)
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

// findReferenced sets r.Upstream to the server that offers the prompt or resource template to
// complete. If the server and the clients use different names for the prompt, it also sets
// r.Change, which puts the server's name into the request. If the proxy has only one server,
// findReferenced chooses it even for an unknown prompt, unless a net that enforces its decisions
// names a prompt. If the policy refuses the request, findReferenced returns the reason; otherwise,
// it returns "".
func (p *Relay) findReferenced(ctx context.Context, r *pool.RelayedRequest) (why string) {
	ref, _ := rawjson.Member(r.Message.Params, "ref")
	switch rawjson.StringAt(ref, "type") {
	case "ref/prompt":
		i, ok := p.Prompt(ctx, rawjson.StringAt(ref, "name"))
		if r.Upstream = i.Upstream; ok && i.Key != i.Exposed {
			r.Change = func(params []byte) []byte { // replaces the prompt's name in ref with the server's own name for it
				renamed := wire.ReplaceMember(nil, ref, "name", rawjson.AppendString(nil, i.Key))
				return wire.ReplaceMember(nil, params, "ref", renamed)
			}
		}
		if ok {
			why = p.wouldRefuse(r.Client, pool.PromptTool(i), []byte(`{}`))
		}
	case "ref/resource":
		uri := rawjson.StringAt(ref, "uri")
		if r.Upstream = p.templateOwner(ctx, uri); r.Upstream != nil {
			why = p.wouldRefuseResource(r.Client, r.Upstream, uri)
		}
	default: // the gate cannot check a ref of an unknown kind, so the request must not reach a server
		return ""
	}
	if r.Upstream == nil && len(p.Pool.Servers) == 1 && !p.Admission.Generation().PromptsByList {
		r.Upstream = p.Pool.Servers[0]
	}
	return why
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
