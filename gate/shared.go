package gate

import (
	"sync"
	"time"
)

// Shared is the state of the nets of one scope for all sessions that are made
// with it: those of one principal, or all. It is safe for concurrent use.
//
// A decision locks its session, then what the session shares of its principal,
// then what all share, and only what the policy has nets for. So a decision is
// atomic over all nets, whatever their scope.
type Shared struct {
	policy *Policy
	scope  Scope
	nets   []int // of the scope

	mu    sync.Mutex
	data  []*NetData // in the order of nets
	owner uint64     // given last, see [State.Owners]
}

// SharedOptions configure a [Shared]. The zero value is ready to use.
type SharedOptions struct {
	Active []string  // as of [SessionOptions]; that of the sessions has no effect on these nets
	Time   time.Time // as of [SessionOptions]
}

// NewShared makes the state of the nets of that scope, at their start.
func NewShared(p *Policy, scope Scope, o SharedOptions) *Shared {
	h := &Shared{policy: p, scope: scope}
	s := p.NewState(o.Active)
	s.Apply(p.Tick(s, o.Time))
	for i, n := range p.nets {
		if n.Scope == scope {
			h.nets, h.data = append(h.nets, i), append(h.data, s.Nets[i])
		}
	}
	return h
}

// join gives a session a number of its own.
func (h *Shared) join() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owner++
	return h.owner
}

// updateShared runs f on the state of a session with the shared nets in it, under
// their locks, and applies the delta that f returns.
func updateShared(shared []*Shared, s *State, f func(*State) *Delta) {
	if len(shared) == 0 {
		s.Apply(f(s))
		return
	}
	h := shared[0]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lend(s)
	updateShared(shared[1:], s, f)
	h.keep(s)
}

// lend puts the shared nets into the state of a session that holds the lock.
func (h *Shared) lend(s *State) {
	for k, i := range h.nets {
		s.Nets[i] = h.data[k]
	}
}

// keep takes the shared nets from the state of a session that holds the lock.
func (h *Shared) keep(s *State) {
	for k, i := range h.nets {
		h.data[k] = s.Nets[i]
	}
}

// Reset puts every net back to its start for all sessions, as
// [Session.Reset] does for one.
func (h *Shared) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, i := range h.nets {
		h.data[k] = h.policy.nets[i].restarted(h.data[k])
	}
}
