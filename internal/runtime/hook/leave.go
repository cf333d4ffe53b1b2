package hook

import (
	"context"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Arrived tells the gate that a call has arrived at the proxy. tool is the name that the client
// used.
func (g *Gate) Arrived(tool string) { g.proxied.arrived(tool) }

// leaveToProxy leaves a call to the proxy, which offers its tool, and records that. It logs a
// warning if the call has ended without arriving at the proxy: then another server has the name of
// the proxy.
func (g *Gate) leaveToProxy(ctx context.Context, r *Request, e *Event, tool string) Reply {
	key := r.Principal + "\x00" + e.agent.Name + "\x00" + e.Session + "\x00" + e.key()
	what := audit.Left{Time: g.Now(), Event: "left", Principal: r.Principal, Upstream: e.agent.Name, Tool: audit.Bounded(e.Tool)}
	switch {
	case e.Before():
		g.proxied.add(&proxiedCall{key: key, tool: agentName(tool)})
	case g.proxied.ended(key):
		what.Event, what.Reason = "missing", "the hook left it to the proxy, and it ended without reaching the proxy: does another server have the name of the proxy?"
		g.Log.Warn("a call that the hook left to the proxy did not reach it: another server may have the name of the proxy", "agent", e.agent.Name, "tool", e.Tool, "principal", r.Principal)
	default:
		return Reply{Output: Pass}
	}
	if err := g.Admission.Append(ctx, what); err != nil {
		g.Log.Error("recording a call that is left to the proxy", "error", err)
	}
	return Reply{Output: Pass}
}
