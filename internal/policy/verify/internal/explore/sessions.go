package explore

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// InSessions reports whether a run meets the query even if every call is made in a new session,
// where only nets with wider scopes remember earlier calls.
func (m *Model) InSessions(q *Query) bool {
	shared := list.Indexes(m.Nets, func(n *Net) bool { return n.Info.Scope != gate.ScopeSession })
	s, why := m.exploreCapped(q, shared, ViewOptions{Tag: q.Tag, witnessed: true, Limit: m.Limit})
	if why != "" || s.hit < 0 {
		return false
	}
	ms, ok := s.movesToHit()
	for _, mv := range ms {
		if mv.Class == nil {
			continue
		}
		blocking, _ := m.newRun().judge(mv.Class)
		for _, n := range blocking {
			ok = ok && m.Nets[n].Info.Scope != gate.ScopeSession
		}
	}
	return ok && m.followed(s, ms)
}

// followed reports whether the nets of s, with unreduced counters (see [Net.cap]), admit the run
// ms.
func (sys *system) followed(s *Space, ms []Move) bool {
	r := sys.runOf(s.netIndexes())
	for _, mv := range ms {
		if !r.apply(mv, func(blocking []int) bool { return len(blocking) == 0 }) {
			return false
		}
	}
	return true
}
