package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A tool can become permanently unavailable in three ways. Calls can exhaust a limit per session;
// this is intended. Successful calls can reach the end of a workflow. A failed call can lock out
// the tool even though successful calls alone never would. Only the last case counts as a loss.

// Limits on the number of states that the search for losses visits: in total, and per search. Both
// grow with Options.States if it exceeds its default.
const (
	lossEffort = 2 * DefaultStates
	lossStates = DefaultStates / 25
)

// addLosses adds to r the callable names that failures can make permanently unavailable.
func (m *prover) addLosses(r *Report, o Options) {
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
		why := m.StopReason()
		if !m.Stop() && lasting.States-from <= max(lossEffort, 2*limit) {
			l, why = lasting.findLoss(n.Tool)
		}
		if why == "" && len(l.Because) > 0 {
			l.Trace, why = m.checkReplay(l.Trace, nil)
		}
		switch {
		case why != "":
			q := r.openQuestion(TopicLost, why)
			q.Tools = append(q.Tools, n.Tool)
		case len(l.Because) > 0:
			r.addLoss(n.Tool, l)
		}
	}
}

// withoutFixedLimits returns a prover for the policy without the limits that are never refilled, or
// nil if no other nets remain.
func (m *prover) withoutFixedLimits(o Options) *prover {
	lasting := list.Filter(m.Nets, func(n *explore.Net) bool { return !n.Info.Shadow && !isFixedLimit(&n.Info) })
	nets := list.Map(lasting, func(n *explore.Net) gate.Net { return n.Info.Net })
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
	o.passes, o.Prove = true, nil // otherwise, the default could deny calls that only an omitted limit lists
	return newProver(p, &o)
}

// isFixedLimit reports whether the net is a limit that is never refilled.
func isFixedLimit(n *gate.NetInfo) bool {
	return n.Cause == gate.CauseLimit && !slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Observe || t.Every > 0 })
}

// findLoss looks for a run with a failure that makes tool t permanently unavailable. Such a run
// counts only if t always remains reachable in runs without failures. If findLoss finds no such
// run, it returns an empty Loss and, if the search was inconclusive, the reason.
func (m *prover) findLoss(t gate.Tool) (l Loss, why string) {
	match, one := m.matcherOf(t)
	if one && slices.ContainsFunc(m.Classes, func(s *callclass.Class) bool { return m.gatedByKey(s) && !s.Free() }) {
		match, one = func(s *callclass.Class) bool { return s.Carries(t, false) }, false // some of these calls are possible only with certain key values, so consider all values together
	}
	for i, ok := range m.Attractor().Ok {
		if ok && match(m.Classes[i]) {
			return Loss{}, ""
		}
	}
	p := m.proof(AlwaysPossible{Tool: t, each: one})
	fails := slices.ContainsFunc(p.Counterexample, func(s Step) bool { return s.Ends && s.Outcome != gate.Success })
	if p.Result != Refuted || !fails {
		return Loss{}, p.Why
	}
	nets := list.Indexes(m.Nets, func(n *explore.Net) bool { return slices.Contains(p.Because, m.net(n.Index)) })
	if kept, why := m.keptBySuccess(nets, explore.TaggedGoal(match, one)); !kept {
		return Loss{}, why
	}
	return Loss{Trace: p.Counterexample, Because: p.Because, Rough: p.Rough}, ""
}

// keptBySuccess tries to prove that the goal remains reachable after every run of successful calls.
// It starts with the given nets and adds nets that may block calls as needed. kept reports whether
// it succeeded. If a limit was reached or not all calls could be enumerated, why is the reason.
func (m *prover) keptBySuccess(nets []int, g *explore.Goal) (kept bool, why string) {
	tag := explore.Tagger(func(s *callclass.Class) bool { return !s.Waits && g.Matches(s) })
	for {
		s := m.Whole(nets, explore.ViewOptions{Tag: tag, Limit: m.Limit, Beyond: true, Serial: true})
		if s == nil {
			return false, m.StopReason()
		}
		if why := m.Calls.Gap(nets, tag); why != "" {
			return false, why
		}
		good := s.Assured(g, s.Unhindered)
		if !slices.Contains(good, false) {
			return true, ""
		}
		more := s.BlockingNets(g, good)
		if len(more) == 0 {
			return false, ""
		}
		nets = append(nets, more...)
		slices.Sort(nets)
	}
}
