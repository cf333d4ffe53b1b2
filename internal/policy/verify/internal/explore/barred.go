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

// isBarred reports whether one of two quick checks shows that the nets never admit a call tagged as
// [Wanted], even if calls fail or overlap. The first check looks for landmarks (see [landmark]).
// The second uses a Cartesian abstraction of the nets' states. If no call is tagged as Wanted,
// isBarred returns false.
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
