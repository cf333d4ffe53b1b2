package relay

import (
	"context"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// wouldRefuse is why nothing is told beside the calls of a prompt or a resource:
// suggestions for their arguments, and news of them, tell something of what the
// gate refuses as it stands. "": they may be had. It is no decision: nothing is
// spent and nothing recorded, and no person is asked, whom the call would ask.
func (p *Relay) wouldRefuse(c *session.Client, t *pool.Tool, args []byte) string {
	call := gate.Call{Tool: t.Canonical, Args: args, Time: p.Life.Now(), Upstream: t.Upstream.Config.Name}
	state, err := p.Pool.Snapshot(c.Session)
	if err != nil {
		return "The " + err.Error() + "."
	}
	d, _ := state.Policy().Decide(state, call, nil)
	r, refused := d.(*gate.Refusal)
	if !refused {
		return ""
	}
	p.Life.Log.Info("request refused", "about", text.Escape(t.Canonical), "session", c.Session.ID, "kind", string(r.Kind), "reason", r.Text)
	return r.Text
}

// wouldRefuseResource is wouldRefuse for a resource, or all that a template stands for.
func (p *Relay) wouldRefuseResource(c *session.Client, u *pool.Server, uri string) string {
	return p.wouldRefuse(c, pool.ResourceTool(u, uri), append(rawjson.AppendString([]byte(`{"uri":`), uri), '}'))
}

// watchable is the part of uris whose news c may have. Those that nobody is
// known to have, though all were asked, are not among them.
func (p *Relay) watchable(ctx context.Context, c *session.Client, uris []string) []string {
	if slices.ContainsFunc(uris, func(uri string) bool { return p.Resources.Owner(p.Pool.Servers, uri) == nil }) {
		p.listResources(ctx, p.Pool.Offering("resources"))
	}
	return slices.DeleteFunc(uris, func(uri string) bool {
		u := p.Resources.Owner(p.Pool.Servers, uri)
		return u == nil || uri == StatusURI && p.OffersStatus() || p.wouldRefuseResource(c, u, uri) != ""
	})
}
