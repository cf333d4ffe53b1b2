package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// NoFailureLocks claims that no failure or unknown outcome of a call makes Tool unreachable if the
// success of the same call would not: if successful calls lead to Tool after the success, they do
// so after the other outcomes too. If keys read the calls of Tool, the claim is about each value
// separately: a call with another value does not count.
type NoFailureLocks struct{ Tool gate.Tool }

func (a NoFailureLocks) tools() []gate.Tool { return []gate.Tool{a.Tool} }

func (a NoFailureLocks) prove(m *prover) Proof {
	match, one := m.ofOne(a.Tool)
	tag := explore.Tagged(match)
	classes, gap := m.ClassesFor(nil, tag)
	var matched []int
	for _, s := range classes {
		if match(s) {
			matched = append(matched, s.Nets()...)
		}
	}
	around := m.groupsOf(matched)
	slices.Sort(around)
	if why := m.Yielding(around); why != "" {
		return Proof{Why: why}
	}
	if gap != "" {
		return Proof{Why: gap}
	}
	if why := m.Calls.Gap(around, tag); why != "" {
		return Proof{Why: why}
	}
	s := m.Exact(around, explore.ViewOptions{Tag: tag, Limit: m.Limit})
	if s == nil {
		return Proof{Why: m.Spent()}
	}
	f := s.FailureLock(goalOf(match, one))
	if f.Result == Refuted {
		if _, stopped := m.Replay(f.Moves); stopped >= 0 {
			return Proof{Why: explore.WhyNoRun}
		}
		if m.Keyed() {
			return m.lockedByFailure(f.Moves, match)
		}
		return Proof{Result: Refuted, Counterexample: trace(f.Moves)}
	}
	return Proof{Result: f.Result, Why: f.Why, Supposed: f.Supposed}
}

// lockedByFailure turns a run that ends with a failure into a refutation if, for some values, its
// success leads to a call that match selects.
func (m *prover) lockedByFailure(failed []explore.Move, match func(*callclass.Class) bool) Proof {
	won := slices.Clone(failed)
	won[len(won)-1].End = gate.Success
	then, why := m.Leads(won, match)
	if why != "" {
		return Proof{Why: why}
	}
	if _, refused := m.replayed(trace(slices.Concat(won, then)), nil); refused != "" {
		return Proof{Why: explore.WhyValues}
	}
	return Proof{Result: Refuted, Counterexample: traceTo(failed, then)}
}

// ofOne returns a function that selects the calls of the tool with the tracked value in all fields
// that keys read. If no key gates one of its calls, it also selects those with other values, and
// one is false.
func (m *prover) ofOne(t gate.Tool) (match func(*callclass.Class) bool, one bool) {
	carries := func(s *callclass.Class) bool { return s.Carries(t, false) }
	classes, _ := m.ClassesFor(nil, carrying(t))
	if !slices.ContainsFunc(classes, func(s *callclass.Class) bool { return carries(s) && m.gatedByKey(s) }) {
		return carries, false
	}
	return func(s *callclass.Class) bool { return carries(s) && s.OfOne() }, true
}

// gatedByKey reports whether a net with a key gates the call.
func (m *prover) gatedByKey(s *callclass.Class) bool {
	return slices.ContainsFunc(s.Effects, func(e callclass.Effect) bool {
		n := m.Nets[e.Net]
		return n.Keyed() && slices.ContainsFunc(n.Meanings.List[e.Meaning], func(a callclass.Ask) bool {
			return len(a.Transitions) > 0 && !n.Observed(a.Transitions)
		})
	})
}

// goalOf returns the goal of the calls that match selects, for one value or any.
func goalOf(match func(*callclass.Class) bool, one bool) *explore.Goal {
	if one {
		return explore.GoalOfOne(match)
	}
	return explore.TaggedGoal(match)
}
