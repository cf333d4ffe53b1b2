package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// groupsOf returns all nets in the groups that contain the given nets.
func (m *prover) groupsOf(nets []int) []int {
	var out []int
	for _, g := range m.groups() {
		if slices.ContainsFunc(g, func(n int) bool { return slices.Contains(nets, n) }) {
			out = append(out, g...)
		}
	}
	return out
}

// ofOne returns a function that selects the calls of tool t that have the tracked value in all
// fields that keys read. If no net with a key gates any of these calls, the function also selects
// calls with other values, and the second result is false.
func (m *prover) ofOne(t gate.Tool) (match func(*callclass.Class) bool, one bool) {
	carries := func(s *callclass.Class) bool { return s.Carries(t, false) }
	classes, _ := m.ClassesFor(nil, carrying(t))
	if !slices.ContainsFunc(classes, func(s *callclass.Class) bool { return carries(s) && m.gatedByKey(s) }) {
		return carries, false
	}
	return func(s *callclass.Class) bool { return carries(s) && s.OfOne() }, true
}

// gatedByKey reports whether a net with a key gates calls of class s.
func (m *prover) gatedByKey(s *callclass.Class) bool {
	return slices.ContainsFunc(s.Effects, func(e callclass.Effect) bool {
		n := m.Nets[e.Net]
		return n.Keyed() && slices.ContainsFunc(n.Meanings.List[e.Meaning], func(a callclass.Ask) bool {
			return len(a.Transitions) > 0 && !n.Observed(a.Transitions)
		})
	})
}

// goalOf returns the goal that is met by a call that match selects. If one is true, the goal is
// about a single key value; otherwise, it is about any values.
func goalOf(match func(*callclass.Class) bool, one bool) *explore.Goal {
	if one {
		return explore.GoalOfOne(match)
	}
	return explore.TaggedGoal(match)
}
