package hook

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// maxProxied limits the number of unfinished calls that are left to the proxy. If there are more,
// the oldest are forgotten.
const maxProxied = 1000

// proxiedCall is a call of a tool that the proxy offers, made at an MCP server that has one of the
// proxy's names. The proxy decides on the call when it arrives at the proxy.
type proxiedCall struct {
	key     string // the reported call's key
	tool    string // tool name in the agents' form
	arrived bool   // the proxy has since received a call of the tool
}

// proxiedCalls holds the calls that are left to the proxy. Its zero value is ready to use.
type proxiedCalls struct {
	waiting atomic.Int64 // number of calls that have not arrived yet

	mu    sync.Mutex
	order list.List // list of *proxiedCall
}

// add adds a call that is left to the proxy.
func (l *proxiedCalls) add(c *proxiedCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.order.Len() >= maxProxied {
		l.drop(l.order.Front())
	}
	l.order.PushBack(c)
	l.waiting.Add(1)
}

// ended removes the call with the given key, and reports whether it ended without arriving at the
// proxy.
func (l *proxiedCalls) ended(key string) (missing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.order.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*proxiedCall); c.key == key {
			l.drop(e)
			return !c.arrived
		}
	}
	return false
}

// drop removes a call. The caller must hold the lock.
func (l *proxiedCalls) drop(e *list.Element) {
	if c := l.order.Remove(e).(*proxiedCall); !c.arrived {
		l.waiting.Add(-1)
	}
}

// Arrived tells the gate that a call of the given tool has arrived at the proxy. It marks the
// oldest call of this tool that has not arrived yet. tool is the name that the client used.
func (g *Gate) Arrived(tool string) {
	l := &g.proxied
	if l.waiting.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tool = agentName(tool)
	for e := l.order.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*proxiedCall); c.tool == tool && !c.arrived {
			c.arrived = true
			l.waiting.Add(-1)
			return
		}
	}
}

// leaveToProxy leaves a call to the proxy, which offers the call's tool, and records this. It logs
// a warning if the call has ended without arriving at the proxy, which means that another server
// has the proxy's name.
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
