package store

import (
	"slices"
	"strings"

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

// compareAdopted orders reports by principal, then by session.
func compareAdopted(a, b admission.Adopted) int {
	return strings.Compare(a.Principal+"\x00"+a.Session, b.Principal+"\x00"+b.Session)
}

func (s *successor) add(k admission.Key, kept []gate.Kept) {
	if len(kept) > 0 {
		s.report = append(s.report, admission.Adopted{Key: k, Nets: kept})
	}
}

// adoptOptions returns the options of [gate.Policy.Adopt] for a.
func adoptOptions(a admission.Adoption) gate.AdoptOptions {
	return gate.AdoptOptions{Active: a.Active, Reset: a.Reset, Time: a.Time}
}

// filterScope returns the entries of nets with the given scope. The scope of a net is that of the
// new policy, or of the old policy if the new one has no net of this name.
func filterScope(kept []gate.Kept, from, to *gate.State, scope gate.Scope) []gate.Kept {
	scopes := map[string]gate.Scope{}
	for _, s := range []*gate.State{from, to} {
		for _, n := range s.Policy().Nets() {
			scopes[n.Name] = n.Scope
		}
	}
	return slices.DeleteFunc(kept, func(k gate.Kept) bool { return scopes[k.Net] != scope })
}
