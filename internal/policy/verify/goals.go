package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// groupsOf returns the given nets and all nets that share calls with them, directly or through
// other nets.
func (m *prover) groupsOf(nets []int) []int {
	return slices.Concat(list.Filter(m.groups(), func(g []int) bool {
		return slices.ContainsFunc(g, func(n int) bool { return slices.Contains(nets, n) })
	})...)
}

// matcherOf returns a function that recognizes calls to tool t. If a net with a key gates the tool,
// the second result is true, and the function recognizes only calls with the tracked value. The
// tracked value is the one key value that the proof considers.
func (m *prover) matcherOf(t gate.Tool) (match func(*callclass.Class) bool, one bool) {
	carries := func(s *callclass.Class) bool { return s.Carries(t, false) }
	classes, _ := m.ClassesFor(nil, taggerOf(t))
	if !slices.ContainsFunc(classes, func(s *callclass.Class) bool { return carries(s) && m.gatedByKey(s) }) {
		return carries, false
	}
	return func(s *callclass.Class) bool { return carries(s) && s.TracksAll() }, true
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
