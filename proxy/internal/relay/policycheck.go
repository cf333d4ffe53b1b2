package relay

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// wouldRefuse returns the reason why the gate would refuse the prompt or resource in the current
// state, or "" if it would not. Completions and notifications for a refused item are also refused,
// because they would reveal something about it. The check has no side effects: it does not change a
// marking, record anything, or ask a person.
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

// wouldRefuseResource is like wouldRefuse for a resource, or for all resources of a template.
func (p *Relay) wouldRefuseResource(c *session.Client, u *pool.Server, uri string) string {
	return p.wouldRefuse(c, pool.ResourceTool(u, uri), uriParams(uri))
}
