package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A redundancy is a net that never changes a verdict, and the nets that forbid
// before it does.
type redundancy struct {
	Net     int
	Because []int
}

// Minimal leaves nets out as long as the query is still never met.
func (m *Model) Minimal(q *Query, nets []int) []int {
	return leaveOut(nets, func(fewer []int) bool { return !m.Stop() && m.forbid(q, fewer) })
}

// leaveOut leaves nets out, one after the other, as long as the fewer will do.
func leaveOut(nets []int, do func(fewer []int) bool) []int {
	nets = slices.Clone(nets)
	for i := 0; i < len(nets); {
		if fewer := slices.Delete(slices.Clone(nets), i, i+1); do(fewer) {
			nets = fewer
		} else {
			i++
		}
	}
	return nets
}

// forbid reports whether the nets alone admit no call that the query wants.
func (m *Model) forbid(q *Query, nets []int) bool {
	v := m.view(nets, ViewOptions{Tag: q.Tag})
	if m.Calls.Gap(nets, q.Tag) == "" && v.barred() {
		return true
	}
	if path, ok := m.newPlanner(v, -1).search(ViewOptions{Limit: m.Limit}); ok && path != nil {
		return false
	}
	return m.unmet(q, nets, ViewOptions{Tag: q.Tag, Limit: m.Limit})
}

// unmet reports whether it is known that the nets alone never meet the query.
func (m *Model) unmet(q *Query, nets []int, o ViewOptions) bool {
	s, why := m.settle(q, nets, o, capSteps[:])
	return why == "" && s.hit < 0
}

// AllRedundant finds nets that can be left out, all of them together. Of two
// that say the same, the later one goes.
func (m *Model) AllRedundant() []redundancy {
	var out []redundancy
	until := m.effort + redundantEffort
	for i := len(m.Nets) - 1; i >= 0 && !m.Stop(); i-- {
		each := max(redundantLeastEach, min(redundantMostEach, until-m.effort))
		if because, ok := m.redundant(i, each); ok {
			m.off[i] = true
			out = append(out, redundancy{i, because})
		}
	}
	slices.Reverse(out)
	return out
}

// Bounds of the effort of finding redundant nets: for all of them, and for each
// at most and at least. Where it ends a net is taken for useful: to say so of a
// useless one does no harm.
const (
	redundantEffort    = 200_000
	redundantMostEach  = 40_000
	redundantLeastEach = 2_000
)

// redundant reports whether the net never changes a verdict, and the nets that
// are before it.
func (m *Model) redundant(n, effort int) (because []int, ok bool) {
	info := &m.Nets[n].Info
	solely := func(s *callclass.Class) bool {
		return slices.Contains(s.Knowers, n) && !slices.ContainsFunc(s.Knowers, func(k int) bool { return k != n && !m.off[k] })
	}
	switch {
	case len(info.Phases) > 0: // it forbids tools that nothing names
		return nil, false
	case info.Row, info.Sum != nil: // what they forbid is not looked at here
		return nil, false
	case info.Validate != nil: // it judges arguments, and those are not looked at here
		return nil, false
	case info.Advisory, info.Recovery != nil: // which nets yield depends on it
		return nil, false
	case info.Shadow, m.Calls.Gap([]int{n}, nil) != "":
		return nil, false
	case m.Calls.Deny && slices.ContainsFunc(m.Classes, solely): // without the net the default denies the call
		return nil, false
	}
	if off := m.unsure(n); off != nil {
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
		if r.notAlone(n, blocking, m.Classes[i]) < 0 {
			return nil, false
		}
	}
	q := &Query{Sole: n}
	o := ViewOptions{about: n + 1, Limit: m.Limit, until: m.effort + effort}
	plan := Answer{Result: Proved, Nets: []int{n}}
	if m.Nets[n].counter() < 0 { // a plan that uses up a large counter would be long
		plan = m.planFor(q, plan.Nets, o)
	}
	if plan.Result != Proved {
		return nil, false
	}
	f := m.neverOf(q, plan.Nets, o)
	if f.Result != Proved {
		return nil, false
	}
	because = leaveOut(f.Nets, func(fewer []int) bool {
		o.until = m.effort + redundantMostEach
		return slices.Contains(fewer, n) && m.unmet(q, fewer, o)
	})
	return slices.DeleteFunc(because, func(i int) bool { return i == n }), true
}

// unsure are the nets that are left out and those of another scope, nil if there are none
// of these: where the net forbids in another session, they may permit. Those of a session
// begin anew there, and others have what earlier sessions earned.
func (m *Model) unsure(n int) []bool {
	off, found := slices.Clone(m.off), false
	for i, o := range m.Nets {
		if o.Info.Scope != m.Nets[n].Info.Scope {
			off[i], found = true, true
		}
	}
	if !found {
		return nil
	}
	return off
}
