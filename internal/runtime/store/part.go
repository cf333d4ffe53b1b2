package store

import (
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// part is the state of the nets of one scope, which sessions share.
type part struct {
	scope gate.Scope
	nets  []int // of the scope

	mu    sync.Mutex
	data  []*gate.NetData // in the order of nets
	owner uint64          // given last, see [gate.State.Owners]

	// In a database.
	name  string
	row   *row // nil: it is not read
	reads bool // a call may depend on the nets without moving them
}

// newPart is the nets of the scope at their start.
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

// join gives a session a number of its own. The first one starts the clocks.
func (p *part) join(policy *gate.Policy, since time.Time) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owner++; p.owner == 1 {
		p.tick(policy, since)
	}
	return p.owner
}

// tick needs the lock.
func (p *part) tick(policy *gate.Policy, t time.Time) {
	s := policy.NewState(nil)
	p.put(s)
	s.Apply(policy.Tick(s, t))
	p.take(s)
}

// hold locks the nets.
func (p *part) hold() { p.mu.Lock() }

func (p *part) release() { p.mu.Unlock() }

// lend locks the nets and puts them into the state of a session.
func (p *part) lend(s *gate.State) {
	p.mu.Lock()
	p.put(s)
}

// keep takes the nets from the state of a session again, and unlocks them.
func (p *part) keep(s *gate.State) {
	p.take(s)
	p.mu.Unlock()
}

// idle reports whether the part can be forgotten and read again.
func (p *part) idle() bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	return p.row == nil || p.row.faulty() != nil || !p.row.pending()
}

func (p *part) put(s *gate.State) {
	for k, i := range p.nets {
		s.Nets[i] = p.data[k]
	}
}

func (p *part) take(s *gate.State) {
	for k, i := range p.nets {
		p.data[k] = s.Nets[i]
	}
}

// adopt is the part under another policy, with what became of its nets.
func (p *part) adopt(from *gate.Policy, a admission.Adoption) (*part, []gate.Kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := from.NewState(nil)
	p.put(s)
	to, kept := a.Policy.Adopt(s, options(a))
	next := partOf(to, p.scope)
	next.owner = p.owner
	return next, ofScope(kept, s, to, p.scope)
}
