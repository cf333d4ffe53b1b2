package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A limit per session ends as it is meant to, whatever comes of the calls. What
// else takes a tool away for good is the end of a workflow if calls that succeed
// do it too, and a trap if it takes a call that fails.

// A Loss is names that a run with failures takes away for good, and no run of calls
// that succeed one after the other.
type Loss struct {
	Tools   []gate.Tool
	Trace   Trace // a shortest run after which no calls that succeed lead to them
	Because []Net // forbid it from there on; none of them can be left out
}

// lossEffort is how many states are visited in search of losses.
const lossEffort = 100_000

// losses finds what failures take away of the names that can be called.
func (m *prover) losses(names []Name, o Options) []Loss {
	if m.Stop() {
		return nil
	}
	o.Stop = m.Stop
	lasting := m.lasting(o)
	if lasting == nil {
		return nil
	}
	limit, from := lasting.Limit, lasting.States
	defer func() { lasting.Limit = limit }()
	lasting.Limit = min(limit, easyStates)
	var found []Loss
	for _, n := range names {
		if n.Callable != Possible || m.Stop() || lasting.States-from > lossEffort {
			continue
		}
		run, because := lasting.loses(n.Tool)
		if len(because) == 0 {
			continue
		}
		run, refused := m.rehearsed(run, nil)
		if refused != "" {
			continue
		}
		at := slices.IndexFunc(found, func(l Loss) bool { return slices.Equal(l.Because, because) && slices.Equal(l.Trace, run) })
		if at < 0 {
			at = len(found)
			found = append(found, Loss{Trace: run, Because: because})
		}
		found[at].Tools = append(found[at].Tools, n.Tool)
	}
	return found
}

// lasting is the prover of the policy without the limits that nothing refills; nil
// where it has no other nets.
func (m *prover) lasting(o Options) *prover {
	var nets []gate.Net
	for _, n := range m.Nets {
		if !n.Info.Shadow && !spent(&n.Info) {
			nets = append(nets, n.Info.Net)
		}
	}
	switch {
	case len(nets) == 0:
		return nil
	case len(nets) == len(m.Nets):
		return m
	}
	p, err := gate.NewPolicy(nets, m.policy.Options())
	if err != nil {
		return nil
	}
	o.passes, o.Prove = true, nil // what only a limit knows is not to be denied
	return newProver(p, &o)
}

// spent reports whether the net is a limit that calls use up and nothing refills.
func spent(n *gate.NetInfo) bool {
	return n.Cause == gate.CauseLimit && !slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Observe || t.Every > 0 })
}

// loses looks for a run with a failure after which no calls that succeed lead to the
// name, where every run of successes leaves a way to it.
func (m *prover) loses(t gate.Tool) (run Trace, because []Net) {
	likes, one := m.ofOne(t)
	if one && slices.ContainsFunc(m.Classes, func(s *callclass.Class) bool { return m.gatedByKey(s) && !s.Free() }) {
		likes, one = func(s *callclass.Class) bool { return s.Carries(t, false) }, false // not every value can be one of it
	}
	for i, ok := range m.Attract().Ok {
		if ok && likes(m.Classes[i]) {
			return nil, nil
		}
	}
	p := m.proof(AlwaysPossible{Tool: t, each: one})
	fails := slices.ContainsFunc(p.Counterexample, func(s Step) bool { return s.Ends && s.Outcome != gate.Success })
	if p.Result != Refuted || !fails {
		return nil, nil
	}
	var nets []int
	for i, n := range m.Nets {
		if slices.Contains(p.Because, m.named([]int{i})[0]) {
			nets = append(nets, n.Index)
		}
	}
	if !m.kept(nets, goalOf(likes, one)) {
		return nil, nil
	}
	return p.Counterexample, p.Because
}

// kept reports whether it is known that each run of successes leaves a way to what
// the goal. It begins with some nets and adds those that may be in the way.
func (m *prover) kept(nets []int, g *explore.Goal) bool {
	tag := explore.Tagged(func(s *callclass.Class) bool { return !s.Waits && g.Likes(s) })
	for {
		s := m.Serial(nets, explore.ViewOptions{Tag: tag, Limit: m.Limit, Beyond: true})
		if s == nil || m.Calls.Gap(nets, tag) != "" {
			return false
		}
		good := s.Assured(g, s.Unhindered)
		if !slices.Contains(good, false) {
			return true
		}
		more := s.Hindering(g, good)
		if len(more) == 0 {
			return false
		}
		nets = append(nets, more...)
		slices.Sort(nets)
	}
}
