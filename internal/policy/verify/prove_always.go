package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func (a Reachable) tools() []gate.Tool      { return []gate.Tool{a.Tool} }
func (a AlwaysPossible) tools() []gate.Tool { return []gate.Tool{a.Tool} }

func (a Reachable) prove(m *prover) Proof {
	n := m.decideCallable(a.Tool)
	switch n.Callable {
	case Possible:
		return Proof{Result: Proved, Witness: n.Shortest}
	case Unsure:
		return Proof{Why: n.Why, Supposed: n.Supposed}
	case AfterFailure:
		return Proof{Result: Refuted, Why: "only calls that fail or overlap lead there"}
	}
	return Proof{Result: Refuted, Because: n.Because, Rough: n.Rough, Default: n.Default}
}

func (a AlwaysPossible) prove(m *prover) Proof {
	if a.ButBudget {
		return a.proveWithoutBudget(m)
	}
	match, one := func(s *callclass.Class) bool { return s.Carries(a.Tool, false) }, false
	if a.each {
		match, one = m.matcherOf(a.Tool)
	}
	classes, gap := m.ClassesFor(nil, taggerOf(a.Tool))
	var matched, known []int // nets affected by calls to the tool; known ignores some calls that might be impossible
	for i, s := range classes {
		if !match(s) {
			continue
		}
		matched = append(matched, s.Nets()...)
		if i >= len(m.Classes) || !s.Unsure() {
			known = append(known, s.Nets()...)
		}
	}
	if why := m.WhyAdvisory(m.groupsOf(matched)); why != "" {
		return Proof{Why: why}
	}
	for i, ok := range m.Attractor().Ok {
		if ok && match(m.Classes[i]) {
			return Proof{Result: Proved}
		}
	}
	if gap != "" {
		return Proof{Why: gap}
	}
	if m.deny && !slices.ContainsFunc(classes, match) && m.Calls.AnyGap() == "" {
		return Proof{Result: Refuted, Default: true}
	}
	return m.proveAlways(m.groupsOf(known), nil, explore.TaggedGoal(match, one))
}

// proveAlways tries to prove that successful calls can reach the goal from every state. around
// contains all nets that matter. If their calls are known and they have few enough combined states,
// proveAlways explores all of these states. Otherwise, it starts with the nets in few and adds
// others when needed.
func (m *prover) proveAlways(around, few []int, g *explore.Goal) Proof {
	if why := m.WhyAdvisory(around); why != "" {
		return Proof{Why: why}
	}
	m.Attractor() // determine whether all effects of calls on the nets are known
	if m.Calls.Gap(around, nil) == "" && m.Whole(around, explore.ViewOptions{Limit: min(m.Limit, m.small)}) != nil {
		p, _ := m.alwaysBy(around, g)
		return p
	}
	for nets := few; ; {
		p, more := m.alwaysBy(nets, g)
		if len(more) == 0 {
			return p
		}
		nets = append(slices.Clone(nets), more...)
		slices.Sort(nets)
	}
}

// alwaysBy tries to decide whether the goal can always be reached, exploring only the given nets.
// The claim is proved if calls that no other net ever refuses lead to the goal from every state.
// The claim is refuted if all nets admit a run to a state where the given nets make the goal
// unreachable. If the result is unknown, more contains nets to add for the next attempt.
func (m *prover) alwaysBy(nets []int, g *explore.Goal) (p Proof, more []int) {
	tag := explore.Tagger(func(s *callclass.Class) bool { return !s.Waits && g.Matches(s) })
	if why := m.Calls.Gap(nets, tag); why != "" {
		return Proof{Why: why}, nil
	}
	o := explore.ViewOptions{Tag: tag, Limit: m.Limit, Beyond: true}
	s := m.Whole(nets, o)
	if s == nil {
		return Proof{Why: m.StopReason()}, nil
	}
	good := s.Assured(g, s.Unhindered)
	if !slices.Contains(good, false) {
		return Proof{Result: Proved}, nil
	}
	more = s.BlockingNets(g, good)
	d := s.FindLock(g)
	if d.Why == explore.WhyLong {
		o.Exact = true
		if s = m.Whole(nets, o); s == nil {
			return Proof{Why: m.StopReason()}, nil
		}
		d = s.FindLock(g)
	}
	if d.Result == Refuted {
		_, stopped := m.Replay(d.Moves)
		switch {
		case stopped < 0:
			return Proof{Result: Refuted, Counterexample: trace(d.Moves), Because: m.named(d.Nets), Rough: d.Rough}, nil
		case slices.Contains(nets, stopped):
			return Proof{Why: explore.WhyNoRun}, nil
		}
		return Proof{}, []int{stopped}
	}
	if d.Result == Proved {
		d.Why = explore.WhyDoubtful
	}
	return Proof{Why: d.Why, Supposed: d.Supposed}, more
}
