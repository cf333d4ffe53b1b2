package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A net with a key is verified for a single arbitrary value of the key, the tracked value. A claim
// is first examined with calls that have the tracked value or any other value. Because the tracked
// value is arbitrary, a proof holds for all values. If the claim has no key, a counterexample can
// contain calls with several values.

// proof tries to prove the assertion for all values. If this fails, it tries to refute the
// assertion: first with calls that all have the same value, then with calls that have several
// values.
func (m *prover) proof(a Assertion) Proof {
	if _, ok := a.(Each); ok {
		return a.prove(m) // the assertions in Of are proved one by one
	}
	p := m.checkRefutation(a.prove(m))
	if p.Result == Proved || !m.Keyed() {
		return p
	}
	switch a.(type) {
	case Reachable, DeadlockFree, NoTerminalStates:
		return p // the attempt above also covered calls that all have the same value
	}
	if always, ok := a.(AlwaysPossible); ok && always.ButBudget {
		return p // for this claim, too, the attempt above covered calls that all have the same value
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

// forEach returns a phrase such as "for each path" if the claim is proved separately for each value
// of a net's key. It returns "" if no net has such a key.
func (m *prover) forEach(a Assertion, nets []Net) string {
	for _, n := range m.Nets {
		if !n.Keyed() || n.Info.Shadow || !slices.Contains(nets, m.net(n.Index)) {
			continue
		}
		key, words := comparison(a, n)
		if len(key) > 0 && (ForEach{Of: a, Key: key}).prove(m).Result == Proved {
			return words
		}
	}
	return ""
}

// comparison returns the key fields to compare when the claim is proved separately for each value
// of the net's key. It also returns a phrase that describes the comparison, such as "with same
// path". key is nil if the fields cannot be compared.
func comparison(a Assertion, n *explore.Net) (key []Compared, words string) {
	var other []gate.Field
	switch a := a.(type) {
	case NeverBefore:
		if other = n.KeyOf(a.First); other == nil {
			return nil, ""
		}
		words = "with same "
		key = pair(n.KeyOf(a.Tool), other)
	case AtMost:
		if a.Per.Window > 0 || a.Per.User {
			return nil, ""
		}
		about := n.KeyOf(a.Tools[0])
		if other = about; a.Per.Call.Name != "" {
			other = n.KeyOf(a.Per.Call)
		}
		key = pair(about, other)
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

// pair combines the fields of the two lists, in order, into pairs to compare. It returns nil if the
// lists differ in length, or if a field is read from the result of a call.
func pair(about, other []gate.Field) (key []Compared) {
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

// isLiveness reports whether the assertion claims that calls remain reachable. Calls with other key
// values may be needed to reach them.
func isLiveness(a Assertion) bool {
	switch a.(type) {
	case AlwaysPossible, NoFailureLocks:
		return true
	}
	return false
}

// oneValue returns the prover for calls with a single value.
func (m *prover) oneValue() *prover {
	one := *m
	one.Model = m.OneValue()
	return &one
}
