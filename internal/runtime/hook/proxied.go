package hook

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// maxProxied is the maximum number of calls in proxiedCalls. If there are more, the oldest are
// removed.
const maxProxied = 1000

// proxiedCall is a call to one of the proxy's own tools. The hook does not decide on it, because
// the proxy does when the call arrives there.
type proxiedCall struct {
	key     string // identifies the call among those that agents have reported
	tool    string // the tool's name, converted by agentName
	arrived bool   // whether [Gate.Arrived] has matched the call with one that arrived at the proxy
}

// proxiedCalls holds the reported calls to the proxy's own tools. The zero value is ready to use.
type proxiedCalls struct {
	waiting atomic.Int64 // number of calls that have not arrived at the proxy yet

	mu    sync.Mutex
	calls []*proxiedCall // the calls, oldest first
}

// add adds a call. If there are too many calls, it removes the oldest.
func (l *proxiedCalls) add(c *proxiedCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) >= maxProxied {
		l.drop(0)
	}
	l.calls = append(l.calls, c)
	l.waiting.Add(1)
}

// remove removes the call with the given key when the call has ended. It returns true if the call
// ended without arriving at the proxy.
func (l *proxiedCalls) remove(key string) (missing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.calls, func(c *proxiedCall) bool { return c.key == key })
	return i >= 0 && l.drop(i)
}

// drop removes the i-th call. It returns true if the call has not arrived at the proxy. The caller
// must hold mu.
func (l *proxiedCalls) drop(i int) (missing bool) {
	if missing = !l.calls[i].arrived; missing {
		l.waiting.Add(-1)
	}
	l.calls = slices.Delete(l.calls, i, i+1)
	return missing
}

// Arrived tells the gate that a call to a tool has arrived at the proxy. The argument is the tool
// name that the client used. The gate assumes that the call is the oldest reported call to the tool
// that has not arrived yet.
func (g *Gate) Arrived(tool string) {
	l := &g.proxied
	if l.waiting.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tool = agentName(tool)
	if i := slices.IndexFunc(l.calls, func(c *proxiedCall) bool { return c.tool == tool && !c.arrived }); i >= 0 {
		l.calls[i].arrived = true
		l.waiting.Add(-1)
	}
}

// leaveToProxy answers an event about a call to one of the proxy's tools. It lets the call pass,
// because the proxy will decide on it, and records this. If a call has ended without arriving at
// the proxy, leaveToProxy records this too and logs a warning: the call may have gone to another
// server with the proxy's name.
func (g *Gate) leaveToProxy(ctx context.Context, r *Request, e *Event, tool string) Reply {
	key := r.Principal + "\x00" + e.agent.Name + "\x00" + e.Session + "\x00" + e.key()
	what := audit.Left{Time: g.Now(), Event: "left", Principal: r.Principal, Upstream: e.agent.Name, Tool: audit.Bounded(e.Tool)}
	switch {
	case e.Before():
		g.proxied.add(&proxiedCall{key: key, tool: agentName(tool)})
	case g.proxied.remove(key):
		what.Event, what.Reason = "missing", "the hook left it to the proxy, and it ended without reaching the proxy: does another server have the proxy's name?"
		g.Log.Warn("a call that the hook left to the proxy did not reach it: another server may have the proxy's name", "agent", e.agent.Name, "tool", e.Tool, "principal", r.Principal)
	default:
		return Reply{Output: Pass}
	}
	if err := g.Admission.Append(ctx, what); err != nil {
		g.Log.Error("recording a call that is left to the proxy", "error", err)
	}
	return Reply{Output: Pass}
}
