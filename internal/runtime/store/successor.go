package store

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// successor holds the states of [Memory] under another policy.
type successor struct {
	states     map[*entry]*gate.State
	principals map[string]*part
	global     *part
	report     []admission.Adopted
}

// successor converts all states to the policy of a. The caller must hold the locks of the ledger
// and of all sessions.
func (m *Memory) successor(a admission.Adoption) *successor {
	next := &successor{states: map[*entry]*gate.State{}, principals: map[string]*part{}}
	var kept []gate.Kept
	next.global, kept = m.global.adopt(m.policy, a)
	next.add(admission.Key{}, kept)
	for principal, old := range m.principals {
		next.principals[principal], kept = old.adopt(m.policy, a)
		next.add(admission.Key{Principal: principal}, kept)
	}
	for _, e := range m.sessions {
		state, kept := a.Policy.Adopt(e.state, adoptOptions(a))
		next.states[e] = state
		next.add(e.info.Key, filterScope(kept, e.state, state, gate.ScopeSession))
	}
	slices.SortFunc(next.report, compareAdopted)
	return next
}

func (s *successor) add(k admission.Key, kept []gate.Kept) {
	if len(kept) > 0 {
		s.report = append(s.report, admission.Adopted{Key: k, Nets: kept})
	}
}
