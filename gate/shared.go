package gate

import (
	"sync"
	"time"
)

// A Shared holds the state of all nets with a given scope. All sessions created with the Shared use
// this state. These are the sessions of a single principal or, for the global scope, all sessions.
// A Shared is safe for concurrent use.
//
// A decision locks its session, then its principal's Shared, then the global Shared. It skips a
// Shared without nets. A decision is thus atomic over all nets, whatever their scope.
type Shared struct {
	policy *Policy
	scope  Scope
	nets   []int // indexes of the nets with this scope

	mu    sync.Mutex
	data  []*NetData // state of each net in nets; guarded by mu
	owner uint64     // last assigned owner number; see [State.Owners]; guarded by mu
}

// SharedOptions configure a [Shared]. The zero value is ready to use.
type SharedOptions struct {
	Active []string  // initially active nets; nil means all; the Active list of a session does not affect these nets
	Time   time.Time // when the clocks start, as for [SessionOptions]
}

// NewShared returns a Shared for p's nets with the given scope, in their initial state.
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

// newOwner returns a new number that identifies a session among those that share the nets; see
// [State.Owners].
func (h *Shared) newOwner() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.owner++
	return h.owner
}

// updateShared calls f with a session state that includes the shared nets and applies the delta
// that f returns, holding the locks of the shared nets throughout.
func updateShared(shared []*Shared, s *State, f func(*State) *Delta) {
	if len(shared) == 0 {
		s.Apply(f(s))
		return
	}
	h := shared[0]
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, i := range h.nets {
		s.Nets[i] = h.data[k]
	}
	updateShared(shared[1:], s, f)
	for k, i := range h.nets {
		h.data[k] = s.Nets[i]
	}
}

// Reset resets every net to its initial state for all sessions, as [Session.Reset] does for a
// single session.
func (h *Shared) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, i := range h.nets {
		h.data[k] = h.policy.nets[i].restarted(h.data[k])
	}
}
