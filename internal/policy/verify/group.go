package verify

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// exploreGroup looks for deadlocks in a group of nets. It first tries simpler checks. If they give
// no answer, it explores the states of the group within the limits.
func (m *prover) exploreGroup(nets []int) Group {
	g := m.explored(nets)
	run, why := m.checkRun(g.Deadlock.Trace)
	if g.Deadlock.Trace = run; why != "" {
		g.Deadlock = Deadlock{Why: why}
	}
	return g
}

func (m *prover) explored(nets []int) Group {
	g := Group{Nets: m.named(nets)}
	if m.Stop() {
		g.Deadlock.Why = m.StopReason()
		return g
	}
	gap := m.Calls.Gap(nets, nil)
	rows := !slices.ContainsFunc(nets, func(n int) bool { return !m.Nets[n].Info.Row }) // whether all nets only limit consecutive identical calls; then a call with other arguments is always possible
	if rows || !m.deny && gap == "" && m.Callless(nets) {
		g.Complete, g.Deadlock.Result = true, Proved
		return g
	}
	if g.Deadlock.Why = m.WhyAdvisory(nets); g.Deadlock.Why != "" {
		return g
	}
	var w *explore.Space
	if gap == "" {
		w = m.Whole(nets, explore.ViewOptions{Limit: min(m.Limit, explore.GroupLimit)})
	}
	if w == nil && m.Attractor().Endless(nets) {
		g.Deadlock.Result = Proved
		return g
	}
	if w == nil {
		if d := m.FindNetLock(nets); d.Result == Refuted {
			g.Deadlock = m.deadlockOf(d)
			return g
		}
		if gap != "" {
			g.Deadlock.Why = gap
			return g
		}
		w = m.Whole(nets, explore.ViewOptions{Limit: m.Limit / 5})
	}
	if w == nil {
		g.Deadlock.Why = m.StopReason()
		return g
	}
	g.States, g.Complete = len(w.At), true
	g.Deadlock = m.deadlockOf(w.FindDeadlock())
	if g.Deadlock.Why == explore.WhyLong {
		if w = m.Whole(nets, explore.ViewOptions{Limit: m.Limit, Exact: true}); w != nil {
			g.Deadlock = m.deadlockOf(w.FindDeadlock())
		}
	}
	return g
}

// deadlockOf converts the answer of a search to a [Deadlock].
func (m *prover) deadlockOf(t explore.Answer) Deadlock {
	return Deadlock{Result: t.Result, Trace: trace(t.Moves), Because: m.named(t.Nets), Rough: t.Rough, Why: t.Why}
}
