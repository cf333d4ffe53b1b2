package verify

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// decideCallable decides whether a call with the given name can be admitted. If nets have keys, it
// first looks for a sequence of calls with a single key value, and then for one with several
// values.
func (m *prover) decideCallable(t gate.Tool) Name {
	if m.Keyed() {
		if n, why := m.checkName(m.oneValue().decideInModel(t)); why == "" && n.Callable == Possible {
			return n
		}
	}
	n, why := m.checkName(m.decideInModel(t))
	switch {
	case why == "" || !m.Keyed() && m.enforces(func(n *explore.Net) bool { return n.Info.Validate != nil }):
		return n // the name counts as callable even if the gate refuses these calls, because a validator might accept other arguments
	case m.Keyed():
		why = explore.WhyValues
	}
	return Name{Tool: t, Why: why}
}

// checkName replaces the sequences of calls in n with sequences that the gate admits. The old
// sequences were found in the model. If the gate admits no such sequence, checkName returns the
// reason.
func (m *prover) checkName(n Name) (played Name, why string) {
	var failing string
	n.Shortest, why = m.checkRun(n.Shortest)
	n.Failing, failing = m.checkRun(n.Failing)
	return n, cmp.Or(why, failing)
}

// decideInModel decides whether a call with the given name is admitted in the prover's model of the
// policy.
func (m *prover) decideInModel(t gate.Tool) Name {
	name := Name{Tool: t}
	if m.Stop() {
		name.Why = m.StopReason()
		return name
	}
	q := admissionQuery(t)
	classes, gap := m.ClassesFor(nil, q.Tag)
	if !slices.ContainsFunc(classes, func(s *callclass.Class) bool { return s.Carries(t, false) }) {
		if name.Why = cmp.Or(gap, m.Calls.AnyGap()); name.Why == "" { // no call has the name, or the policy denies all calls with the name by default
			name.Callable, name.Default = Impossible, true
		}
		return name
	}
	if f := m.ProveBarred(q); f.Result == Proved {
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
	f := m.NeverMet(q, m.ShrinkPlanless(q, plan.Nets))
	if why := m.WhyAdvisory(plan.Nets); f.Result == Refuted && why != "" {
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

// setImpossible records that no call with the name is admitted. It also records the nets that
// forbid such calls, without those that it finds to be unnecessary.
func (m *prover) setImpossible(name *Name, q *explore.Query, nets []int) {
	nets, sure := m.Minimize(q, nets)
	name.Callable, name.Because, name.Rough = Impossible, m.named(nets), !sure
}

// admissionQuery returns a query that looks for a run where a call with the given name is admitted.
func admissionQuery(t gate.Tool) *explore.Query { return &explore.Query{Tag: ownTagger(t), Sole: -1} }

// taggerOf returns a function that marks calls with the given name as [explore.Wanted].
func taggerOf(t gate.Tool) func(*callclass.Class) uint8 {
	return explore.Tagger(func(s *callclass.Class) bool { return s.Carries(t, false) })
}
