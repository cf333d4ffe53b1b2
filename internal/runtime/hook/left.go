package hook

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// maxLeft bounds the calls that are left to the proxy and have not ended. Of more, the oldest
// are forgotten.
const maxLeft = 1000

// A leftCall is a call of a tool that the proxy offers, by an MCP server that the agent knows
// by the name of the proxy: the proxy decides on it when it comes.
type leftCall struct {
	key  string // of the call, as the agent tells of it
	tool string // as agents write it
	came bool   // the proxy has met a call of the tool since
}

// leftCalls are the calls that are left to the proxy. The zero value is ready to use.
type leftCalls struct {
	waiting atomic.Int64 // calls that have not come

	mu    sync.Mutex
	order list.List // *leftCall
}

// add keeps a call that is left to the proxy.
func (l *leftCalls) add(c *leftCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.order.Len() >= maxLeft {
		l.drop(l.order.Front())
	}
	l.order.PushBack(c)
	l.waiting.Add(1)
}

// came notes that a call of the tool has come to the proxy.
func (l *leftCalls) came(tool string) {
	if l.waiting.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tool = inAgents(tool)
	for e := l.order.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*leftCall); c.tool == tool && !c.came {
			c.came = true
			l.waiting.Add(-1)
			return
		}
	}
}

// ended forgets the call with the key, and reports whether it has not come.
func (l *leftCalls) ended(key string) (missing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.order.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*leftCall); c.key == key {
			l.drop(e)
			return !c.came
		}
	}
	return false
}

// drop requires the lock.
func (l *leftCalls) drop(e *list.Element) {
	if c := l.order.Remove(e).(*leftCall); !c.came {
		l.waiting.Add(-1)
	}
}

// Came notes that a call of the tool has come to the proxy, by the name that its client wrote.
func (g *Gate) Came(tool string) { g.left.came(tool) }

// leave leaves a call to the proxy, which offers its tool, and puts that on record. It warns
// where the call has ended and the proxy has not met it: then another server has the name.
func (g *Gate) leave(ctx context.Context, r *Request, e *Event, tool string) Reply {
	key := r.Principal + "\x00" + e.agent.Name + "\x00" + e.Session + "\x00" + e.key()
	what := audit.Left{Time: g.Now(), Event: "left", Principal: r.Principal, Upstream: e.agent.Name, Tool: audit.Bounded(e.Tool)}
	switch {
	case e.Before():
		g.left.add(&leftCall{key: key, tool: inAgents(tool)})
	case g.left.ended(key):
		what.Event, what.Reason = "missing", "it was left to the proxy, and has ended without coming there: is another server called like the proxy?"
		g.Log.Warn("a call that was left to the proxy has not come there: another server may have its name", "agent", e.agent.Name, "tool", e.Tool, "principal", r.Principal)
	default:
		return Reply{Output: Pass}
	}
	if err := g.Admission.Append(ctx, what); err != nil {
		g.Log.Error("recording a call that is left to the proxy", "error", err)
	}
	return Reply{Output: Pass}
}
