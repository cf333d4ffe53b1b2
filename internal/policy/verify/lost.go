package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A limit per session is used up by design, whatever the outcomes of calls are. Anything else that
// makes a tool permanently unavailable is the end of a workflow if successful calls do it too, and
// a trap if it takes a failed call.

// Bounds on the search for losses if Options.States is the default or less: states in total, and
// states of one search.
const (
	lossEffort = 2 * DefaultStates
	lossStates = DefaultStates / 25
)

// losses finds the callable names that failures can make unavailable.
func (m *prover) losses(r *Report, o Options) {
	o.Stop = m.Stop
	lasting := m.withoutFixedLimits(o)
	if lasting == nil {
		return
	}
	limit, from := lasting.Limit, lasting.States
	defer func() { lasting.Limit = limit }()
	lasting.Limit = min(limit, max(lossStates, limit/25))
	for _, n := range r.Names {
		if n.Callable != Possible {
			continue
		}
		var l Loss
		why := m.Spent()
		if !m.Stop() && lasting.States-from <= max(lossEffort, 2*limit) {
			l, why = lasting.loses(n.Tool)
		}
		if why == "" && len(l.Because) > 0 {
			l.Trace, why = m.replayed(l.Trace, nil)
		}
		switch {
		case why != "":
			q := r.open(TopicLost, why)
			q.Tools = append(q.Tools, n.Tool)
		case len(l.Because) > 0:
			r.lost(n.Tool, l)
		}
	}
}

// withoutFixedLimits returns the prover of the policy without the limits that nothing refills; nil
// if it has no other nets.
func (m *prover) withoutFixedLimits(o Options) *prover {
	var nets []gate.Net
	for _, n := range m.Nets {
		if !n.Info.Shadow && !isFixedLimit(&n.Info) {
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
	o.passes, o.Prove = true, nil // calls that only a limit knows must not be denied
	return newProver(p, &o)
}

// isFixedLimit reports whether the net is a limit that calls use up and nothing refills.
func isFixedLimit(n *gate.NetInfo) bool {
	return n.Cause == gate.CauseLimit && !slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Observe || t.Every > 0 })
}

// loses looks for a run with a failure that makes the name unreachable by successful calls,
// although it stays reachable in every run of successes. Without such a run the loss has no
// reasons; why is not empty if that is unknown.
func (m *prover) loses(t gate.Tool) (l Loss, why string) {
	match, one := m.ofOne(t)
	if one && slices.ContainsFunc(m.Classes, func(s *callclass.Class) bool { return m.gatedByKey(s) && !s.Free() }) {
		match, one = func(s *callclass.Class) bool { return s.Carries(t, false) }, false // not every value can be the value of such a call
	}
	for i, ok := range m.Attract().Ok {
		if ok && match(m.Classes[i]) {
			return Loss{}, ""
		}
	}
	p := m.proof(AlwaysPossible{Tool: t, each: one})
	fails := slices.ContainsFunc(p.Counterexample, func(s Step) bool { return s.Ends && s.Outcome != gate.Success })
	if p.Result != Refuted || !fails {
		return Loss{}, p.Why
	}
	var nets []int
	for i, n := range m.Nets {
		if slices.Contains(p.Because, m.named([]int{i})[0]) {
			nets = append(nets, n.Index)
		}
	}
	if kept, why := m.keptBySuccess(nets, goalOf(match, one)); !kept {
		return Loss{}, why
	}
	return Loss{Trace: p.Counterexample, Because: p.Because, Rough: p.Rough}, ""
}

// keptBySuccess reports whether the goal stays reachable after every run of successes, or why that
// is unknown. It starts with the given nets and adds those that may block.
func (m *prover) keptBySuccess(nets []int, g *explore.Goal) (kept bool, why string) {
	tag := explore.Tagged(func(s *callclass.Class) bool { return !s.Waits && g.Matches(s) })
	for {
		s := m.Serial(nets, explore.ViewOptions{Tag: tag, Limit: m.Limit, Beyond: true})
		if s == nil {
			return false, m.Spent()
		}
		if why := m.Calls.Gap(nets, tag); why != "" {
			return false, why
		}
		good := s.Assured(g, s.Unhindered)
		if !slices.Contains(good, false) {
			return true, ""
		}
		more := s.Hindering(g, good)
		if len(more) == 0 {
			return false, ""
		}
		nets = append(nets, more...)
		slices.Sort(nets)
	}
}
