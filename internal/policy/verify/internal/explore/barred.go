package explore

// ProveBarred tries to prove without exploration that the query is never met. If it fails, the
// answer is unknown.
func (m *Model) ProveBarred(q *Query) Answer {
	nets, barred := m.seed(q)
	if !barred {
		nets, barred = m.wholeScope().relax().blockers(q.goalClasses(m.Classes))
	}
	if !barred || m.Calls.Gap(nets, q.Tag) != "" || m.WhyAdvisory(nets) != "" || !m.view(nets, ViewOptions{Tag: q.Tag}).isBarred() {
		return Answer{} // a call that was not enumerated in advance can have effects that no listed call has
	}
	return Answer{Result: Proved, Nets: nets}
}

// isBarred reports whether a check without exploration shows that the nets forbid every call tagged
// as [Wanted], over all outcomes and interleavings. If the view has no such calls, isBarred returns
// false. The check uses landmarks (see [landmark]) and the relaxation, a Cartesian abstraction.
func (v *view) isBarred() bool {
	g, goal := v.scopeOf(), v.wantedClasses()
	if g.fails = true; len(goal) == 0 {
		return false
	}
	if _, ok := g.landmarks(make([]int, len(v.nets)), goal, -1); !ok {
		return true
	}
	_, barred := g.relax().blockers(goal)
	return barred
}
