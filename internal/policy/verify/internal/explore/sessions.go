package explore

import "github.com/petrigate/petrigate/gate"

// InSessions reports whether a run meets the query even if every call is made in a new session.
// Only the nets with wider scopes remember the earlier calls.
func (m *Model) InSessions(q *Query) bool {
	var shared []int
	for i, n := range m.Nets {
		if n.Info.Scope != gate.ScopeSession {
			shared = append(shared, i)
		}
	}
	s, why := m.exploreCapped(q, shared, ViewOptions{Tag: q.Tag, witnessed: true, Limit: m.Limit}, capSteps[:])
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

// followed reports whether the view's nets admit the run with unreduced counters.
func (sys *system) followed(s *Space, ms []Move) bool {
	r := sys.newRun()
	for i := range r.nets {
		if s.at[i] < 0 {
			r.nets[i] = nil
		}
	}
	for _, mv := range ms {
		if !r.apply(mv, func(blocking []int) bool { return len(blocking) == 0 }) {
			return false
		}
	}
	return true
}
