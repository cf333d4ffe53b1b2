package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func (a NoFailureLocks) tools() []gate.Tool { return []gate.Tool{a.Tool} }

func (a NoFailureLocks) prove(m *prover) Proof {
	match, one := m.matcherOf(a.Tool)
	tag := explore.Tagger(match)
	classes, gap := m.ClassesFor(nil, tag)
	around := m.groupsOf(list.FlatMap(list.Filter(classes, match), (*callclass.Class).Nets))
	slices.Sort(around)
	if why := m.WhyAdvisory(around); why != "" {
		return Proof{Why: why}
	}
	if gap != "" {
		return Proof{Why: gap}
	}
	if why := m.Calls.Gap(around, tag); why != "" {
		return Proof{Why: why}
	}
	s := m.Whole(around, explore.ViewOptions{Tag: tag, Limit: m.Limit, Exact: true})
	if s == nil {
		return Proof{Why: m.StopReason()}
	}
	f := s.FindFailureLock(explore.TaggedGoal(match, one))
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

// lockedByFailure decides whether a run refutes the claim because its last call does not succeed.
// The claim is refuted if, after a success of that call, a call selected by match would still be
// reachable with some key value. Otherwise, the result is unknown.
func (m *prover) lockedByFailure(failed []explore.Move, match func(*callclass.Class) bool) Proof {
	won := slices.Clone(failed)
	won[len(won)-1].End = gate.Success
	then, why := m.RunTo(won, match)
	if why != "" {
		return Proof{Why: why}
	}
	if _, refused := m.checkReplay(trace(slices.Concat(won, then)), nil); refused != "" {
		return Proof{Why: explore.WhyValues}
	}
	return Proof{Result: Refuted, Counterexample: traceTo(failed, then)}
}
