package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// NoFailureLocks claims that no call in flight, by its failure or an unknown outcome,
// loses a call of Tool where its success would not: successful calls lead there after
// the one and not after the other. Where keys read the calls of Tool, it is about each
// value by itself: a call of another value does not do instead.
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

// lockedByFailure is the proof of a run that ends with a failure, if there are values
// with which its success leads to what match wants.
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

// ofOne are the calls of the tool that have the value that is looked at in all that keys
// read of them; where no key gates one of its calls, those of other values too.
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

// goalOf is the goal of what match wants, about one value or any.
func goalOf(match func(*callclass.Class) bool, one bool) *explore.Goal {
	if one {
		return explore.GoalOfOne(match)
	}
	return explore.TaggedGoal(match)
}
