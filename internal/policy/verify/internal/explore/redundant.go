package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A redundancy describes a net that never changes a verdict. It contains the nets that already
// forbid the same calls.
type redundancy struct {
	Net     int
	Because []int
}

// Minimize tries to remove each of the nets in turn. It removes a net if the remaining nets still
// forbid every call that q tags as [Wanted]. It returns the remaining nets. sure reports whether
// each of them was shown to be necessary.
func (m *Model) Minimize(q *Query, nets []int) (left []int, sure bool) {
	return leaveOut(nets, func(fewer []int) Result {
		if m.Stop() {
			return Unknown
		}
		return m.proveForbidden(q, fewer)
	})
}

// proveForbidden tries to prove that, with only the given nets enforced, no call that q tags as
// [Wanted] is ever admitted. It returns Refuted if it finds a run with such a call, and Unknown if
// the search is cut off.
func (m *Model) proveForbidden(q *Query, nets []int) Result {
	v := m.view(nets, ViewOptions{Tag: q.Tag})
	if m.Calls.Gap(nets, q.Tag) == "" && v.isBarred() {
		return Proved
	}
	if path, ok := m.newPlanner(v, -1).search(ViewOptions{Limit: m.Limit}); ok && path != nil {
		return Refuted
	}
	return m.proveUnmet(q, nets, ViewOptions{Tag: q.Tag, Limit: m.Limit})
}

// proveUnmet tries to prove that, with only the given nets enforced, no run meets the query. It
// returns Refuted if it finds such a run, and Unknown if the search is cut off.
func (m *Model) proveUnmet(q *Query, nets []int, o ViewOptions) Result {
	s, why := m.exploreCapped(q, nets, o)
	switch {
	case why != "":
		return Unknown
	case s.hit >= 0:
		return Refuted
	}
	return Proved
}

// An UndecidedNet is a net that the search for redundant nets could not decide. Why is the reason.
type UndecidedNet struct {
	Net int
	Why string
}

// RedundantNets returns nets that can all be removed at once without changing any verdict. If two
// nets forbid the same calls, the later one is removed. Later replays in m omit the removed nets.
// untried contains the nets that the search could not decide on.
func (m *Model) RedundantNets() (found []redundancy, untried []UndecidedNet) {
	more := max(1, m.Limit/DefaultStates)
	until := m.effort + more*redundantEffort
	for i := len(m.Nets) - 1; i >= 0; i-- {
		each := max(redundantLeastEach, min(more*redundantMostEach, until-m.effort))
		because, ok, why := m.checkRedundant(i, each)
		switch {
		case ok:
			m.off[i] = true
			found = append(found, redundancy{i, because})
		case why != "":
			untried = append(untried, UndecidedNet{i, why})
		}
	}
	slices.Reverse(found)
	slices.Reverse(untried)
	return found, untried
}

// Limits on the effort of the search for redundant nets: the total, and the maximum and minimum for
// each net. A net whose limit is exhausted counts as necessary and is reported as untried.
const (
	redundantEffort    = 200_000
	redundantMostEach  = 40_000
	redundantLeastEach = 2_000
)

// unsupportedReason returns the reason why the search for redundant nets cannot judge net n: a
// feature of the net, an exhausted limit, or calls that could not be enumerated. It returns "" if
// the search can judge the net.
func (m *Model) unsupportedReason(n int) string {
	info := &m.Nets[n].Info
	switch {
	case m.Stop():
		return m.StopReason()
	case info.Row, info.Sum != nil:
		return "it counts by the arguments of calls"
	case info.Validate != nil:
		return "it judges the arguments of calls"
	case info.Advisory, info.Recovery != nil:
		return "it determines which nets yield"
	}
	return m.Calls.Gap([]int{n}, nil)
}

// checkRedundant reports whether net n never changes a verdict, and returns the nets that forbid the
// same calls. If the result is unknown, it also returns the reason.
func (m *Model) checkRedundant(n, effort int) (because []int, ok bool, why string) {
	solely := func(s *callclass.Class) bool {
		return slices.Contains(s.KnownTo, n) && !slices.ContainsFunc(s.KnownTo, func(k int) bool { return k != n && !m.off[k] })
	}
	if info := &m.Nets[n].Info; info.Shadow || len(info.Phases) > 0 { // a net with phases also forbids tools that the policy does not name, so it is never redundant
		return nil, false, ""
	}
	if why = m.unsupportedReason(n); why != "" {
		return nil, false, why
	}
	if m.Calls.Deny && slices.ContainsFunc(m.Classes, solely) { // without the net, the policy's default would deny the call
		return nil, false, ""
	}
	if off := m.offWithOtherScopes(n); off != nil {
		before := m.off
		m.off = off
		defer func() { m.off = before }()
	}
	r := m.newRun()
	for _, i := range m.byNet[n] {
		if m.Classes[i].Waits {
			continue
		}
		blocking, _ := r.judge(m.Classes[i])
		if r.otherRefuser(n, blocking, m.Classes[i]) < 0 {
			return nil, false, ""
		}
	}
	q := &Query{Sole: n}
	o := ViewOptions{about: n + 1, Limit: m.Limit, until: m.effort + effort}
	plan := Answer{Result: Proved, Nets: []int{n}}
	if m.Nets[n].counter() < 0 { // a plan that exhausts a large counter would be too long
		plan = m.planFor(q, plan.Nets, o)
	}
	if plan.Result != Proved {
		return nil, false, plan.Why
	}
	f := m.neverOf(q, plan.Nets, o)
	if f.Result != Proved {
		return nil, false, f.Why
	}
	because, _ = leaveOut(f.Nets, func(fewer []int) Result {
		o.until = m.effort + redundantMostEach
		if !slices.Contains(fewer, n) {
			return Refuted
		}
		return m.proveUnmet(q, fewer, o)
	})
	return slices.DeleteFunc(because, func(i int) bool { return i == n }), true, ""
}

// offWithOtherScopes returns, for each net, whether to omit it when checking whether net n is
// redundant. It omits the nets in sys.off and the nets with a different scope. A net with a
// different scope might permit calls in another session that net n forbids. If all nets have the
// same scope, offWithOtherScopes returns nil.
func (sys *system) offWithOtherScopes(n int) []bool {
	off, found := slices.Clone(sys.off), false
	for i, o := range sys.Nets {
		if o.Info.Scope != sys.Nets[n].Info.Scope {
			off[i], found = true, true
		}
	}
	if !found {
		return nil
	}
	return off
}
