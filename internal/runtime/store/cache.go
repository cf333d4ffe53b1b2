package store

import (
	"maps"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// maxCached bounds the sessions that are kept in memory although they are in the database.
const maxCached = 10_000

// cache is the sessions of a process and what they share, each of which guards itself.
type cache struct {
	mu         sync.RWMutex
	policy     *gate.Policy
	active     []string
	sessions   map[string]*entry
	principals map[string]*part
	room       int // how many principals there may be until those without sessions are forgotten
	global     *part
}

func newCache(p *gate.Policy, active []string) *cache {
	return &cache{
		policy: p, active: active, sessions: map[string]*entry{}, principals: map[string]*part{}, room: 2 * maxCached,
		global: newPart(p, gate.ScopeGlobal, active),
	}
}

// enter finds the session or makes one, of which nothing is read yet.
func (c *cache) enter(s admission.SessionInfo) (e *entry, created bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.sessions[s.Session]; e != nil {
		return e, false
	}
	if len(c.sessions) >= maxCached {
		c.evict(maxCached / 10)
	}
	e = &entry{info: s, new: true}
	c.join(e)
	c.sessions[s.Session] = e
	return e, true
}

// join gives the session the parts that it shares. It needs the lock.
func (c *cache) join(e *entry) {
	e.parts = nil
	p := c.principals[e.info.Principal]
	if p == nil {
		p = newPart(c.policy, gate.ScopePrincipal, c.active)
		p.name = e.info.Principal
		if len(p.nets) > 0 {
			if len(c.principals) >= c.room {
				c.sweep()
			}
			c.principals[p.name] = p
		}
	}
	for _, p := range [...]*part{p, c.global} {
		if len(p.nets) > 0 {
			e.parts = append(e.parts, p)
		}
	}
}

// evict looks at n sessions, and forgets those that are in the database as they are here.
// It needs the lock.
func (c *cache) evict(n int) {
	for name, e := range c.sessions {
		if n--; n < 0 {
			return
		}
		if !e.tryHold() {
			continue
		}
		if e.idle() {
			e.evicted = true
			delete(c.sessions, name)
		}
		e.release()
	}
}

// sweep forgets what principals share who have no session in memory, and are in the database
// as they are here. It needs the lock.
func (c *cache) sweep() {
	here := make(map[string]bool, len(c.sessions))
	for _, e := range c.sessions {
		here[e.info.Principal] = true
	}
	for name, p := range c.principals {
		if !here[name] && p.idle() {
			delete(c.principals, name)
		}
	}
	c.room = max(c.room, 2*len(c.principals)) // a sweep looks at all of them
}

func (c *cache) known(session string) *entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.sessions[session]
}

// forget drops a session of which nothing is to be known any more. It needs the lock of
// the session.
func (c *cache) forget(e *entry) {
	e.evicted = true
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[e.info.Session] == e {
		delete(c.sessions, e.info.Session)
	}
}

// fresh is a session that begins now, and that nobody else knows.
func (c *cache) fresh(k admission.Key) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &entry{info: admission.SessionInfo{Key: k}, new: true}
	c.join(e)
	return e
}

// takeOver finds what becomes of the states that are in memory.
func (c *cache) takeOver(t *takeover) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.states, t.principals = map[*entry]taken{}, map[string]*part{}
	t.global = t.part(c.global)
	for name, p := range c.principals {
		if p = t.part(p); len(p.nets) > 0 {
			t.principals[name] = p
		}
	}
	for _, e := range c.sessions {
		t.entry(e)
	}
	slices.SortFunc(t.report, inOrder)
}

// follow makes the states those that were taken over.
func (c *cache) follow(t *takeover) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policy, c.active, c.global, c.principals = t.Policy, t.Active, t.global, t.principals
	for _, e := range c.sessions {
		e.row, e.state = t.states[e].row, t.states[e].state
		c.join(e)
	}
}

// others adds the sessions that are not in the list.
func (c *cache) others(list []admission.SessionInfo) []admission.SessionInfo {
	there := make(map[string]bool, len(list))
	for i := range list {
		there[list[i].Session] = true
	}
	for _, e := range c.all() {
		if info := e.described(); !there[info.Session] {
			list = append(list, info)
		}
	}
	return list
}

func (c *cache) all() []*entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Values(c.sessions))
}
