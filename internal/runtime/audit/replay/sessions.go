package replay

import (
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A session is a session of the log.
type session struct {
	state     *gate.State
	principal string
	process   string
	parts     []*part         // parts that the session shares
	calls     map[uint64]call // admitted and not yet settled, by recorded number
	closed    bool
	partial   bool            // may have been opened before the log begins
	early     bool            // partial, whatever follows
	resumed   bool            // partial unless the first admitted call has number 1
	policies  map[string]bool // policies of its decisions
	moved     time.Time       // last time its nets fired
	missed    map[int]string  // its own nets that were not evaluated for some call, with the reason
	first     bool            // its first admitted call is recorded
	lost      string          // reason why its marking is unknown; empty: known
}

// A call is an admitted call.
type call struct {
	number uint64 // number in the state
	made   bool   // false: the replayed policy refused it
}

// A part is state that sessions share.
type part struct {
	nets  []int
	data  []*gate.NetData
	owner uint64
	moved time.Time

	missed map[int]string // see session
	lost   string
}

// A partKey identifies a part. With the memory driver, each process has its own parts.
type partKey struct {
	scope   gate.Scope
	process string
	name    string
}

// begin creates a session.
func (r *Replay) begin(principal, process string, since time.Time) *session {
	s := &session{state: r.policy.NewState(r.active), principal: principal, process: process, calls: map[uint64]call{}, policies: map[string]bool{}}
	s.state.Apply(r.policy.Tick(s.state, since))
	for _, k := range [...]partKey{{gate.ScopePrincipal, process, principal}, {gate.ScopeGlobal, process, ""}} {
		if r.durable(process) {
			k.process = ""
		}
		p := r.part(k, since)
		if len(p.nets) == 0 {
			continue
		}
		p.owner++
		s.state.Owners[k.scope] = p.owner
		s.parts = append(s.parts, p)
	}
	return s
}

// part returns the shared state with the given key, and creates it if necessary.
func (r *Replay) part(k partKey, since time.Time) *part {
	if p := r.parts[k]; p != nil {
		return p
	}
	fresh := r.policy.NewState(r.active)
	fresh.Apply(r.policy.Tick(fresh, since))
	p := &part{}
	for i, n := range r.policy.Nets() {
		if n.Scope == k.scope {
			p.nets, p.data = append(p.nets, i), append(p.data, fresh.Nets[i])
		}
	}
	r.parts[k] = p
	return p
}

// with calls f with the state of the session, including its shared parts.
func (s *session) with(f func(*gate.State)) {
	for _, p := range s.parts {
		for k, i := range p.nets {
			s.state.Nets[i] = p.data[k]
		}
	}
	f(s.state)
	for _, p := range s.parts {
		for k, i := range p.nets {
			p.data[k] = s.state.Nets[i]
		}
	}
}

// markMoved records that the nets of the session and its parts have fired.
func (s *session) markMoved(at time.Time) {
	s.moved = at
	for _, p := range s.parts {
		p.moved = at
	}
}

// unmovedSince reports whether no net of the session has fired since.
func (s *session) unmovedSince(since time.Time) bool {
	for _, p := range s.parts {
		if p.moved.After(since) {
			return false
		}
	}
	return !s.moved.After(since)
}
