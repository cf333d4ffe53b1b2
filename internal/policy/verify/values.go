package verify

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// Nets with a key are judged for one arbitrary value of it. What is proved so while calls
// have other values too holds for all values. A run that refutes a claim may have calls of
// several values: without a key a claim is about all of them together.

// proof proves the assertion for all values, or refutes it with calls of one value or,
// where that does not do, of several.
func (m *prover) proof(a Assertion) Proof {
	if _, ok := a.(Each); ok {
		return a.prove(m) // proof by proof
	}
	p := m.checkRefutation(a.prove(m))
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
	q := one.checkRefutation(a.prove(one))
	switch {
	case isLiveness(a) && q.Result != Refuted:
		return p
	case q.Result == Refuted:
		return q
	case p.Result == Unknown && q.Result == Proved:
		p.Why = explore.WhyValues
	}
	if q.Result == Proved {
		p.ForEach = m.forEach(a, q.Because)
	}
	return p
}

// forEach is the key of one of the nets, as a claim has it, if the claim about each value
// of it by itself is proved; empty: none is known.
func (m *prover) forEach(a Assertion, nets []Net) string {
	for _, n := range m.Nets {
		if !n.Keyed() || n.Info.Shadow || !slices.Contains(nets, Net{n.Info.Name, n.Info.Rule}) {
			continue
		}
		key, words := compares(a, n)
		if len(key) > 0 && (ForEach{Of: a, Key: key}).prove(m).Result == Proved {
			return words
		}
	}
	return ""
}

// compares returns the key fields of the net that the claim compares between its calls, and the
// words of the claim for it, such as "with same path".
func compares(a Assertion, n *explore.Net) (key []Compared, words string) {
	var other []gate.Field
	switch a := a.(type) {
	case NeverBefore:
		if other = n.KeyOf(a.First); other == nil {
			return nil, ""
		}
		words = "with same "
		key = paired(n.KeyOf(a.Tool), other)
	case AtMost:
		if a.Per.Window > 0 || a.Per.User {
			return nil, ""
		}
		about := n.KeyOf(a.Tools[0])
		if other = about; a.Per.Call.Name != "" {
			other = n.KeyOf(a.Per.Call)
		}
		key = paired(about, other)
		if words = "for each "; slices.ContainsFunc(key, func(c Compared) bool { return c.differs() }) {
			words = "with same "
		}
	}
	for i, c := range key {
		if i > 0 {
			words += ", "
		}
		if words += c.Other.Name(); c.differs() {
			words += " as " + c.Field.Name()
		}
	}
	return key, words
}

func (c *Compared) differs() bool { return c.Other.Name() != c.Field.Name() }

// paired are the fields of both sides of a key as a claim can have them.
func paired(about, other []gate.Field) (key []Compared) {
	if len(about) != len(other) {
		return nil
	}
	for i := range about {
		if about[i].Result || other[i].Result {
			return nil
		}
		key = append(key, Compared{Field: about[i], Other: other[i]})
	}
	return key
}

// isLiveness reports whether the assertion is about what calls lead to; those of other
// values do too.
func isLiveness(a Assertion) bool {
	switch a.(type) {
	case AlwaysPossible, NoFailureLocks:
		return true
	}
	return false
}

// oneValue is the prover for which calls have one value alone.
func (m *prover) oneValue() *prover {
	one := *m
	one.Model = m.OneValue()
	return &one
}

// callable says whether a call that has the name can be admitted: with one value, or
// where that does not lead there with several.
func (m *prover) callable(t gate.Tool) Name {
	if m.Keyed() {
		if n, why := m.checkName(m.oneValue().callableBy(t)); why == "" && n.Callable == Possible {
			return n
		}
	}
	n, why := m.checkName(m.callableBy(t))
	switch {
	case why == "" || !m.Keyed() && m.validates():
		return n // what validators refuse is not looked at
	case m.Keyed():
		why = explore.WhyValues
	}
	return Name{Tool: t, Why: why}
}

// validates reports whether some net that is enforced judges arguments by conditions.
func (m *prover) validates() bool {
	return slices.ContainsFunc(m.Nets, func(n *explore.Net) bool { return !n.Info.Shadow && n.Info.Validate != nil })
}

// checkName is the name with runs that the gate admits; why is empty where it does.
func (m *prover) checkName(n Name) (played Name, why string) {
	var failing string
	n.Shortest, why = m.checkRun(n.Shortest)
	n.Failing, failing = m.checkRun(n.Failing)
	return n, cmp.Or(why, failing)
}
