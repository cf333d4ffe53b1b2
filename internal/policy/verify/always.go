package verify

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// always proves that the goal can be reached from everywhere: by the states of
// all nets around, where they are few, and otherwise by as few nets as show it,
// of which some are given to begin with.
func (m *prover) always(around, few []int, g *explore.Goal) Proof {
	if why := m.Yielding(around); why != "" {
		return Proof{Why: why}
	}
	m.Attract() // so that it is known what calls can mean to nets
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

// alwaysBy is what some nets say of the goal: it can always be reached by calls
// that no other net ever refuses, or a run which all nets admit leads to where
// these nets forbid it. Where it is neither, more are nets that matter too.
func (m *prover) alwaysBy(nets []int, g *explore.Goal) (p Proof, more []int) {
	tag := explore.Tagged(func(s *callclass.Class) bool { return !s.Waits && g.Likes(s) })
	if why := m.Calls.Gap(nets, tag); why != "" {
		return Proof{Why: why}, nil
	}
	o := explore.ViewOptions{Tag: tag, Limit: m.Limit, Beyond: true}
	s := m.Whole(nets, o)
	if s == nil {
		return Proof{Why: m.Spent()}, nil
	}
	good := s.Escapes(g, s.Unhindered)
	if !slices.Contains(good, false) {
		return Proof{Result: Proved}, nil
	}
	more = s.Hindering(g, good)
	d := s.Lock(g)
	if d.Why == explore.WhyLong {
		if s = m.Exact(nets, o); s == nil {
			return Proof{Why: m.Spent()}, nil
		}
		d = s.Lock(g)
	}
	if d.Result == Refuted {
		_, stopped := m.Replay(d.Moves)
		switch {
		case stopped < 0:
			return Proof{Result: Refuted, Counterexample: trace(d.Moves), Because: m.named(d.Nets)}, nil
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
