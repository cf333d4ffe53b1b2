package hook

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// maxProxied bounds the unfinished calls that are left to the proxy. If there are more, the oldest
// are forgotten.
const maxProxied = 1000

// proxiedCall is a call of a tool that the proxy offers, at an MCP server with a name of the proxy.
// The proxy decides on it when it arrives there.
type proxiedCall struct {
	key     string // key of the reported call
	tool    string // name in the form of agents
	arrived bool   // the proxy has received a call of the tool since
}

// proxiedCalls holds the calls that are left to the proxy. The zero value is ready to use.
type proxiedCalls struct {
	waiting atomic.Int64 // number of calls that have not arrived

	mu    sync.Mutex
	order list.List // *proxiedCall
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

// arrived marks the oldest waiting call of the tool as arrived.
func (l *proxiedCalls) arrived(tool string) {
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

// ended removes the call with the key, and reports whether it has not arrived.
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
