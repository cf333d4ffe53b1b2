package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// NoFailureLocks claims that no call in flight, by its failure or an unknown outcome,
// loses a call of Tool where its success would not: successful calls lead there after
// the one and not after the other.
type NoFailureLocks struct{ Tool gate.Tool }

func (a NoFailureLocks) tools() []gate.Tool { return []gate.Tool{a.Tool} }

func (a NoFailureLocks) prove(m *prover) Proof {
	if m.Keyed() {
		return Proof{Why: explore.WhyValues}
	}
	likes := func(s *callclass.Class) bool { return s.Carries(a.Tool, false) }
	tag := carrying(a.Tool)
	classes, gap := m.ClassesFor(nil, tag)
	var liked []int
	for _, s := range classes {
		if likes(s) {
			liked = append(liked, s.Nets()...)
		}
	}
	around := m.around(liked)
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
	f := s.FailureLock(explore.TaggedGoal(likes))
	if f.Result == Refuted {
		if _, stopped := m.Replay(f.Moves); stopped >= 0 {
			return Proof{Why: explore.WhyNoRun}
		}
		return Proof{Result: Refuted, Counterexample: trace(f.Moves)}
	}
	return Proof{Result: f.Result, Why: f.Why}
}
