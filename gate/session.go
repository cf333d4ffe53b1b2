package gate

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Session holds a policy's state for a single conversation. It is safe for concurrent use.
type Session struct {
	policy     *Policy              // immutable
	shared     []*Shared            // states shared with other sessions, in lock order; immutable
	onDecision func(Call, Decision) // called with each decision; immutable

	spare atomic.Pointer[preparedCall] // memory that the next decision can reuse; nil while a decision uses it

	mu    sync.Mutex
	state *State // guarded by mu; accessed through [Session.update]
}

// SessionOptions configure a session. The zero value is ready to use.
type SessionOptions struct {
	Active []string // initially active nets; nil means all; unknown names are ignored

	// Time is the time when the session and its clocks start. If it is zero, each net's clock
	// starts with the first call that the net applies to.
	Time time.Time

	// Principal and Global hold the state of the nets with these scopes; see [NewShared]. If either
	// is nil, the session has its own state for the nets with that scope.
	Principal, Global *Shared

	// OnDecision is called with each decision before Decide returns. [Confirm] and [ConfirmN] also
	// call it with the refusal of a call that was not approved. Decisions include those that nets
	// in shadow mode would have changed; see [Allow].Would. No lock is held during the call.
	// OnDecision must not settle the ticket of an Allow; that is up to the caller of Decide.
	OnDecision func(Call, Decision)
}

// NewSession returns a session in the initial state. The shared states must belong to the same
// policy and have the right scopes.
func NewSession(p *Policy, o SessionOptions) *Session {
	s := &Session{policy: p, onDecision: o.OnDecision, state: p.NewState(o.Active)}
	s.addShared(ScopePrincipal, o.Principal)
	s.addShared(ScopeGlobal, o.Global)
	s.Tick(o.Time)
	return s
}

// addShared makes the session use the state h for the nets with the given scope. It panics if h
// belongs to another policy or scope.
func (s *Session) addShared(scope Scope, h *Shared) {
	switch {
	case h == nil:
	case h.policy != s.policy || h.scope != scope:
		panic("gate: a session cannot share the state of another policy or scope")
	case len(h.nets) > 0:
		s.shared = append(s.shared, h)
		s.state.Owners[scope] = h.newOwner()
	}
}

// update calls f with the state and applies the delta that f returns, holding the lock throughout.
// All reads and writes of the state go through update. f must not block.
func (s *Session) update(f func(*State) *Delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	updateShared(s.shared, s.state, f)
}

// read calls f with the state while holding the lock, and returns the result.
func read[T any](s *Session, f func(*State) T) (got T) {
	s.update(func(state *State) *Delta {
		got = f(state)
		return nil
	})
	return got
}

// Tick advances the clocks to now. Decide and Classify do so for the nets that they evaluate. Call
// Tick before reading the state of nets with a clock. The zero time has no effect.
func (s *Session) Tick(now time.Time) {
	s.update(func(state *State) *Delta { return s.policy.Tick(state, now) })
}

// Reset resets the session's own nets, as described for [Policy.Reset]. For shared nets, use
// [Shared.Reset].
func (s *Session) Reset() {
	s.update(s.policy.Reset)
}

// Snapshot returns a copy of the session's current state.
func (s *Session) Snapshot() (snapshot *State) { return read(s, (*State).Clone) }
