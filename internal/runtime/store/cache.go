package store

import (
	"maps"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// maxCached bounds the number of cached sessions.
const maxCached = 10_000

// cache holds sessions that this process has used, and the parts of the state that sessions share.
// Each session and each part has its own lock.
type cache struct {
	mu             sync.RWMutex
	policy         *gate.Policy
	active         []string
	sessions       map[string]*entry
	principals     map[string]*part
	principalLimit int // sweepPrincipals runs when the number of principals reaches this limit
	global         *part
}

func newCache(p *gate.Policy, active []string) *cache {
	return &cache{
		policy: p, active: active, sessions: map[string]*entry{}, principals: map[string]*part{}, principalLimit: 2 * maxCached,
		global: newPart(p, gate.ScopeGlobal, active),
	}
}

// getOrCreate returns the session's cached entry, creating one without a state if necessary.
func (c *cache) getOrCreate(s admission.SessionInfo) (e *entry, created bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.sessions[s.Session]; e != nil {
		return e, false
	}
	if len(c.sessions) >= maxCached {
		c.evict(maxCached / 10)
	}
	e = &entry{info: s, new: true}
	c.attachParts(e)
	c.sessions[s.Session] = e
	return e, true
}

// attachParts sets e.parts to the parts of the state that the session shares with others. The
// caller must hold the cache lock.
func (c *cache) attachParts(e *entry) {
	e.parts = nil
	p := c.principals[e.info.Principal]
	if p == nil {
		p = newPart(c.policy, gate.ScopePrincipal, c.active)
		p.name = e.info.Principal
		if len(p.nets) > 0 {
			if len(c.principals) >= c.principalLimit {
				c.sweepPrincipals()
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

// evict examines n sessions and evicts those whose stored state is up to date. The caller must hold
// the cache lock.
func (c *cache) evict(n int) {
	for name, e := range c.sessions {
		if n--; n < 0 {
			return
		}
		if !e.tryLockSession() {
			continue
		}
		if e.evictable() {
			e.evicted = true
			delete(c.sessions, name)
		}
		e.unlockSession()
	}
}

// sweepPrincipals evicts the parts of the state that belong to principals without a cached session.
// It evicts only parts whose stored state is up to date.
func (c *cache) sweepPrincipals() {
	here := make(map[string]bool, len(c.sessions))
	for _, e := range c.sessions {
		here[e.info.Principal] = true
	}
	maps.DeleteFunc(c.principals, func(name string, p *part) bool { return !here[name] && p.evictable() })
	c.principalLimit = max(c.principalLimit, 2*len(c.principals)) // limit the rate of sweeps, because each sweep examines all principals
}

func (c *cache) lookup(session string) *entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.sessions[session]
}

// forget evicts a finished session. The caller must hold the session lock.
func (c *cache) forget(e *entry) {
	e.evicted = true
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[e.info.Session] == e {
		delete(c.sessions, e.info.Session)
	}
}

// newSession returns a new session of the principal without adding it to the cache.
func (c *cache) newSession(k admission.Key) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &entry{info: admission.SessionInfo{Key: k}, new: true}
	c.attachParts(e)
	return e
}

// prepareTakeover converts the cached states to a new policy and stores the results in t. It does
// not change the cache, so the caller can still cancel the change of policy. It skips states that
// must be read from the database again.
func (c *cache) prepareTakeover(t *takeover) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.states, t.principals = map[*entry]adoptedState{}, map[string]*part{}
	t.global = t.adoptPart(c.global)
	for name, p := range c.principals {
		if p = t.adoptPart(p); len(p.nets) > 0 {
			t.principals[name] = p
		}
	}
	for _, e := range c.sessions {
		t.adoptEntry(e)
	}
	slices.SortFunc(t.report, compareAdopted)
}

// applyTakeover replaces the cached states with the converted ones.
func (c *cache) applyTakeover(t *takeover) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policy, c.active, c.global, c.principals = t.Policy, t.Active, t.global, t.principals
	for _, e := range c.sessions {
		e.row, e.state = t.states[e].row, t.states[e].state
		c.attachParts(e)
	}
}

// appendMissing appends the cached sessions that the list does not contain yet.
func (c *cache) appendMissing(list []admission.SessionInfo) []admission.SessionInfo {
	there := make(map[string]bool, len(list))
	for i := range list {
		there[list[i].Session] = true
	}
	for _, e := range c.entries() {
		if info := e.sessionInfo(); !there[info.Session] {
			list = append(list, info)
		}
	}
	return list
}

func (c *cache) entries() []*entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Values(c.sessions))
}
