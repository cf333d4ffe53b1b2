package verify

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// Policy verifies a policy. If the time is short, assertions are proved first.
func Policy(p *gate.Policy, o Options) *Report {
	m := newProver(p, &o)
	r := &Report{Proofs: m.proofs(o.Prove)}
	r.Overlaps, r.MoreOverlaps = callclass.Overlaps(p, m.Stop)
	for _, t := range listed(p) {
		r.Names = append(r.Names, m.callable(t))
	}
	for _, g := range m.groups() {
		group := m.group(g)
		r.States += group.States
		r.Groups = append(r.Groups, group)
	}
	m.losses(r, o)
	found, untried := m.AllRedundant()
	for _, x := range found {
		r.Redundant = append(r.Redundant, Redundant{m.named([]int{x.Net})[0], m.named(x.Because)})
	}
	for _, x := range untried {
		q := r.open(TopicRedundant, x.Why)
		q.Nets = append(q.Nets, m.named([]int{x.Net})...)
	}
	r.askOpen()
	r.Visited = m.States
	r.Gaps = m.Calls.AllGaps()
	return r
}

// carrying returns a tag for the calls that have the name.
func carrying(t gate.Tool) func(*callclass.Class) uint8 {
	return explore.Tagged(func(s *callclass.Class) bool { return s.Carries(t, false) })
}

// ofItself returns a tag for the calls that have the name and, as their own value, the tracked
// value.
func ofItself(t gate.Tool) func(*callclass.Class) uint8 {
	return explore.Tagged(func(s *callclass.Class) bool { return s.Carries(t, false) && s.OfItself() })
}

// admits returns the query for a call that has the name.
func admits(t gate.Tool) *explore.Query { return &explore.Query{Tag: ofItself(t), Sole: -1} }

// setImpossible records that some nets alone never admit a call of the name.
func (m *prover) setImpossible(name *Name, q *explore.Query, nets []int) {
	nets, sure := m.Minimal(q, nets)
	name.Callable, name.Because, name.Rough = Impossible, m.named(nets), !sure
}

// callableBy decides whether the model admits a call that has the name.
func (m *prover) callableBy(t gate.Tool) Name {
	name := Name{Tool: t}
	if m.Stop() {
		name.Why = m.Spent()
		return name
	}
	q := admits(t)
	classes, gap := m.ClassesFor(nil, q.Tag)
	if !slices.ContainsFunc(classes, func(s *callclass.Class) bool { return s.Carries(t, false) }) {
		if name.Why = cmp.Or(gap, m.Calls.AnyGap()); name.Why == "" { // no call has the name, or only calls that the default denies
			name.Callable, name.Default = Impossible, true
		}
		return name
	}
	if f := m.Barred(q); f.Result == Proved {
		m.setImpossible(&name, q, f.Nets)
		return name
	}
	plan := m.Plan(q.Tag, true)
	if plan.Result == Refuted {
		name.Callable, name.Shortest = Possible, trace(plan.Moves)
		name.Shortest[len(name.Shortest)-1].Name = t.Name
		return name
	}
	if plan.Result == Unknown {
		name.Why = plan.Why
		return name
	}
	if doubtful := m.Plan(q.Tag, false); doubtful.Result == Refuted {
		name.Why, name.Supposed = explore.WhyDoubtful, ""
		if unsure := explore.UnsureOf(doubtful.Moves); unsure != nil {
			name.Why, name.Supposed = m.Calls.Doubt(unsure, "only if there is a tool ")
		}
		return name
	}
	f := m.Never(q, m.Planless(q, plan.Nets))
	if why := m.Yielding(plan.Nets); f.Result == Refuted && why != "" {
		name.Why = why
		return name
	}
	switch f.Result {
	case Refuted:
		name.Callable, name.Failing = AfterFailure, trace(f.Moves)
		name.Failing[len(name.Failing)-1].Name = t.Name
	case Proved:
		m.setImpossible(&name, q, f.Nets)
	default:
		name.Why, name.Supposed = f.Why, f.Supposed
	}
	return name
}
