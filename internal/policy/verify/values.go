package verify

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// Nets with a key are judged for one arbitrary value of it. What is proved so while calls
// have other values too holds for all values. A claim that does not hold then is about
// one value alone, and says so.

// proof proves the assertion for all values or, where that does not do, for one.
func (m *prover) proof(a Assertion) Proof {
	if _, ok := a.(Each); ok {
		return a.prove(m) // proof by proof
	}
	p := m.judged(a.prove(m))
	if p.Result == Proved || !m.Keyed() {
		return p
	}
	switch a.(type) {
	case Reachable, DeadlockFree, NoTerminalStates:
		return p // these look at both themselves
	}
	if always, ok := a.(AlwaysPossible); ok && always.ButBudget {
		return p // likewise
	}
	one := m.oneValue()
	q := one.judged(a.prove(one))
	switch {
	case leadsOn(a) && q.Result != Refuted:
		return p
	case q.Result == Refuted:
		return q
	case q.Result == Proved && !compares(a):
		q.OneValue = m.keys(q.Because)
		return q
	case p.Result == Refuted && asksAfter(a):
		return Proof{Why: explore.WhyValues} // whether somebody is asked was not looked at of other values
	}
	return p
}

// asksAfter reports whether the assertion is about who is asked once another call was made.
func asksAfter(a Assertion) bool {
	after, ok := a.(NeverAfter)
	return ok && after.Unapproved != nil
}

// leadsOn reports whether the assertion is about what calls lead to; those of other
// values do too.
func leadsOn(a Assertion) bool {
	switch a.(type) {
	case AlwaysPossible, NoFailureLocks:
		return true
	}
	return false
}

// compares reports whether the assertion is itself about one value.
func compares(a Assertion) bool {
	_, ok := a.(ForEach)
	return ok
}

// oneValue is the prover for which calls have one value alone.
func (m *prover) oneValue() *prover {
	one := *m
	one.Model = m.OneValue()
	return &one
}

// keys are the fields of the keys of those nets, or of all if none of those has one, as
// they are written.
func (m *prover) keys(of []Net) []string {
	var keys []string
	for _, n := range m.Nets {
		if n.Info.Shadow || of != nil && !slices.Contains(of, Net{n.Info.Name, n.Info.Rule}) {
			continue
		}
		key := n.Info.Key
		for _, t := range n.Info.Transitions {
			if len(t.Key) > 0 && !t.Observe {
				key = t.Key
			}
		}
		for _, f := range key {
			if name := cmp.Or(f.Source, f.Path); !slices.Contains(keys, name) {
				keys = append(keys, name)
			}
		}
	}
	if len(keys) == 0 && of != nil {
		return m.keys(nil)
	}
	return keys
}

// callable says whether a call that has the name can be admitted: with one value, or
// where that does not lead there with several.
func (m *prover) callable(t gate.Tool) Name {
	if !m.Keyed() {
		n := m.callableBy(t)
		n.Shortest, _ = m.accepted(n.Shortest)
		n.Failing, _ = m.accepted(n.Failing)
		return n
	}
	n, ok := m.played(m.oneValue().callableBy(t))
	if ok && n.Callable == Possible {
		return n
	}
	all, ok := m.played(m.callableBy(t))
	if !ok {
		return Name{Tool: t, Why: explore.WhyValues}
	}
	return all
}

// played is the name with runs that the gate admits; ok is false where it does not.
func (m *prover) played(n Name) (played Name, ok bool) {
	var why, failing string
	n.Shortest, why = m.accepted(n.Shortest)
	n.Failing, failing = m.accepted(n.Failing)
	return n, why == "" && failing == ""
}
