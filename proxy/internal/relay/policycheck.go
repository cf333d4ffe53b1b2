package relay

import (
	"context"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// wouldRefuse returns why the gate refuses the prompt or resource in the current state, or an empty
// string. Completions and notifications would reveal something about a refused item, so they are
// refused too. The check has no side effects: it spends and records nothing, and asks no person.
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

// wouldRefuseResource returns the same for a resource, or for all resources of a template.
func (p *Relay) wouldRefuseResource(c *session.Client, u *pool.Server, uri string) string {
	return p.wouldRefuse(c, pool.ResourceTool(u, uri), uriParams(uri))
}

// watchable returns those uris that c is allowed to watch. It omits those that no server lists.
func (p *Relay) watchable(ctx context.Context, c *session.Client, uris []string) []string {
	if slices.ContainsFunc(uris, func(uri string) bool { return p.Resources.Owner(p.Pool.Servers, uri) == nil }) {
		p.listResources(ctx, p.Pool.Offering("resources"))
	}
	return slices.DeleteFunc(uris, func(uri string) bool {
		u := p.Resources.Owner(p.Pool.Servers, uri)
		return u == nil || uri == StatusURI && p.OffersStatus() || p.wouldRefuseResource(c, u, uri) != ""
	})
}
