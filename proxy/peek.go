package proxy

import (
	"context"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// wouldRefuse is why nothing is told beside the calls of a prompt or a resource:
// suggestions for their arguments, and news of them, tell something of what the
// gate refuses as it stands. "": they may be had. It is no decision: nothing is
// spent and nothing recorded, and no person is asked, whom the call would ask.
func (p *Proxy) wouldRefuse(c *client, t *tool, args []byte) string {
	call := gate.Call{Tool: t.canonical, Args: args, Time: p.now(), Upstream: t.upstream.config.Name}
	state, err := p.snapshot(c.session)
	if err != nil {
		return "The " + err.Error() + "."
	}
	d, _ := state.Policy().Decide(state, call, nil)
	r, refused := d.(*gate.Refusal)
	if !refused {
		return ""
	}
	p.log.Info("request refused", "about", text.Escape(t.canonical), "session", c.session.id, "kind", string(r.Kind), "reason", r.Text)
	return r.Text
}

// wouldRefuseResource is wouldRefuse for a resource, or all that a template stands for.
func (p *Proxy) wouldRefuseResource(c *client, u *upstreamState, uri string) string {
	return p.wouldRefuse(c, resourceTool(u, uri), append(rawjson.AppendString([]byte(`{"uri":`), uri), '}'))
}

// watchable is the part of uris whose news c may have. Those that nobody is
// known to have, though all were asked, are not among them.
func (p *Proxy) watchable(ctx context.Context, c *client, uris []string) []string {
	if slices.ContainsFunc(uris, func(uri string) bool { return p.resources.owner(p.upstreams, uri) == nil }) {
		p.listResources(ctx, p.offering("resources"))
	}
	return slices.DeleteFunc(uris, func(uri string) bool {
		u := p.resources.owner(p.upstreams, uri)
		return u == nil || uri == statusURI && p.offersStatus() || p.wouldRefuseResource(c, u, uri) != ""
	})
}

// refusedRequest is the answer to a request that is barred.
func refusedRequest(id []byte, why string) []byte {
	return wire.AppendError(nil, id, codeInvalidRequest, why, nil)
}
