package replay

import (
	"time"

	"github.com/petrigate/petrigate/gate"
)

// session is one of the log.
type session struct {
	state     *gate.State
	principal string
	process   string
	parts     []*part         // that it shares
	calls     map[uint64]call // by their numbers on record: admitted and not settled
	closed    bool
	partial   bool            // it may have been opened before the log begins
	early     bool            // so it is, whatever follows
	again     bool            // so it is unless the first call that is admitted has the number 1
	policies  map[string]bool // under which it was decided
	moved     time.Time       // when its nets moved last
	missed    map[int]string  // nets of its own that were not asked about some call, with the reason
	first     bool            // its first call that was admitted is on record
	lost      string          // why it is not known where its nets stand; empty: it is
}

// call is an admitted one.
type call struct {
	number uint64 // in the state
	made   bool   // false: the policy refuses it
}

// part is what sessions share.
type part struct {
	nets  []int
	data  []*gate.NetData
	owner uint64
	moved time.Time

	missed map[int]string // as of a session
	lost   string
}

// partKey names a part: with a driver in the memory, each process has its own.
type partKey struct {
	scope   gate.Scope
	process string
	name    string
}

// begin makes a session.
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

// part is what the sessions share of that name.
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

// with runs f on the state of the session with what it shares in it.
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

// move notes that the nets of the session, and what it shares, have moved.
func (s *session) move(at time.Time) {
	s.moved = at
	for _, p := range s.parts {
		p.moved = at
	}
}

// still reports whether nothing has moved the nets since.
func (s *session) still(since time.Time) bool {
	for _, p := range s.parts {
		if p.moved.After(since) {
			return false
		}
	}
	return !s.moved.After(since)
}
