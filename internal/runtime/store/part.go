package store

import (
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// part holds the states of the nets shared by one principal's sessions or by all sessions.
type part struct {
	scope gate.Scope
	nets  []int // indexes of the scope's nets in the policy

	mu    sync.Mutex
	data  []*gate.NetData // states, one per net, in the same order as nets
	owner uint64          // last owner number that was assigned to a session; see [gate.State.Owners]

	// The following fields are used only by Durable.
	name  string
	row   *row // nil until read from the database
	reads bool // whether a step must check the part's version even if it does not change the part
}

// newPart returns the [part] for a scope, with the nets in their initial states.
func newPart(p *gate.Policy, scope gate.Scope, active []string) *part {
	return partOf(p.NewState(active), scope)
}

func partOf(s *gate.State, scope gate.Scope) *part {
	p := &part{scope: scope}
	for i, n := range s.Policy().Nets() {
		if n.Scope == scope {
			p.nets, p.data = append(p.nets, i), append(p.data, s.Nets[i])
			p.reads = p.reads || len(n.Phases)+len(n.Recovery) > 0 || n.Advisory
		}
	}
	return p
}

// addSession adds a session to the part and returns the session's number. The first session starts
// the clocks of the part's nets.
func (p *part) addSession(policy *gate.Policy, since time.Time) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner++; p.owner == 1 {
		s := policy.NewState(nil)
		p.copyInto(s)
		s.Apply(policy.Tick(s, since))
		p.copyFrom(s)
	}
	return p.owner
}

func (p *part) lockNets() { p.mu.Lock() }

func (p *part) unlockNets() { p.mu.Unlock() }

// evictable reports whether the cache can evict the part and read it again later. It returns false
// if the part is locked.
func (p *part) evictable() bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	return p.row == nil || p.row.dropReason() != nil || !p.row.pending()
}

func (p *part) copyInto(s *gate.State) {
	for k, i := range p.nets {
		s.Nets[i] = p.data[k]
	}
}

func (p *part) copyFrom(s *gate.State) {
	for k, i := range p.nets {
		p.data[k] = s.Nets[i]
	}
}

// adopt converts the part to another policy, and reports the effect on each net.
func (p *part) adopt(from *gate.Policy, a admission.Adoption) (*part, []gate.Kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := from.NewState(nil)
	p.copyInto(s)
	to, kept := a.Policy.Adopt(s, adoptOptions(a))
	next := partOf(to, p.scope)
	next.owner = p.owner
	return next, filterScope(kept, s, to, p.scope)
}
