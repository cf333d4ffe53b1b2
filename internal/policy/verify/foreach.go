package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// ForEach claims Of, a [NeverBefore] or an [AtMost], separately for each value of the key: calls
// with other values do not count.
type ForEach struct {
	Of  Assertion
	Key []Compared
}

// Compared holds the fields that must have the value: Field of the calls that the claim is about,
// Other of the calls that precede them or restart the count.
type Compared struct{ Field, Other gate.Field }

func (a ForEach) tools() []gate.Tool { return a.Of.tools() }

func (a ForEach) prove(m *prover) Proof {
	unread := func(f gate.Field) bool { return f.Path == "" && f.Reader == nil }
	if slices.ContainsFunc(a.Key, func(c Compared) bool { return unread(c.Field) || unread(c.Other) }) {
		return Proof{Why: "no rule has a key of this expression"}
	}
	var about, others []gate.Field
	for _, c := range a.Key {
		about, others = append(about, c.Field), append(others, c.Other)
	}
	if m.Calls.Crossed(about) || m.Calls.Crossed(others) {
		return Proof{Why: explore.WhyValues}
	}
	each := *m
	each.each = &a
	p := a.Of.prove(&each)
	if of, ok := a.Of.(AtMost); ok && p.Result == Refuted && (of.Count > maxCount || of.Per.Window > 0) {
		return Proof{Why: explore.WhyLong}
	}
	return p
}

// sides returns the names of the calls that the claim is about, and the names of the other calls.
func (a ForEach) sides() (about, others []gate.Tool) {
	switch of := a.Of.(type) {
	case NeverBefore:
		return []gate.Tool{of.Tool}, []gate.Tool{of.First}
	case AtMost:
		if of.Per.Call.Name != "" {
			others = []gate.Tool{of.Per.Call}
		}
		return of.Tools, others
	}
	return a.Of.tools(), nil
}

// compared returns the fields that assertions read and compare with each other. It also sets the
// readers of expressions in the keys of the assertions, see known.
func compared(p *gate.Policy, all []Assertion) (out [][]callclass.Reading) {
	for i, a := range all {
		switch a := a.(type) {
		case Each:
			out = append(out, compared(p, a.Of)...)
		case ForEach:
			a.Key = slices.Clone(a.Key)
			about, others := a.sides()
			for k := range a.Key {
				c := &a.Key[k]
				c.Field, c.Other = known(p, c.Field), known(p, c.Other)
				var alike []callclass.Reading
				for _, t := range about {
					alike = append(alike, callclass.Reading{Tool: t, Field: c.Field})
				}
				for _, t := range others {
					alike = append(alike, callclass.Reading{Tool: t, Field: c.Other})
				}
				out = append(out, alike)
			}
			all[i] = a
		}
	}
	return out
}

// known returns the field, or for an expression without a reader, the equally written field of a
// key of the policy.
func known(p *gate.Policy, f gate.Field) gate.Field {
	if f.Path != "" || f.Reader != nil {
		return f
	}
	for _, n := range p.Nets() {
		for _, t := range n.Transitions {
			for _, g := range slices.Concat(n.Key, t.Key) {
				if g.Reader != nil && g.Source == f.Source {
					return g
				}
			}
		}
	}
	return f
}

// narrow restricts a tag to calls with the tracked value. A call that the claim is about and that
// has no value is not preceded by any call with its value.
func (a *ForEach) narrow(tag func(*callclass.Class) uint8) func(*callclass.Class) uint8 {
	if tag == nil {
		return nil
	}
	_, before := a.Of.(NeverBefore)
	return func(s *callclass.Class) uint8 {
		bits := tag(s)
		for _, c := range a.Key {
			if has := s.Has(c.Field); has == callclass.Other || has == callclass.Lacks && !before {
				bits &^= explore.Wanted | again
			}
			if s.Has(c.Other) != callclass.Same {
				bits &= explore.Wanted | again
			}
		}
		return bits
	}
}

// own reports whether the call is considered with its own value as the tracked value. A claim for
// each value of a key determines the value, which may be in another field than the first.
func (m *prover) own(s *callclass.Class) bool {
	if m.each == nil {
		return s.OfItself()
	}
	var chosen []gate.Field
	for _, c := range m.each.Key {
		chosen = append(chosen, c.Field)
	}
	return s.OfItself(chosen...)
}

// Never asks the model, restricted to one value if the assertion is about each value of a key.
func (m *prover) Never(q *explore.Query, nets []int) explore.Answer {
	if m.each == nil {
		return m.Model.Never(q, nets)
	}
	tag := m.each.narrow(q.Tag)
	q.Tag = tag
	first := m.Model.Never(q, nets)
	if first.Result != explore.Refuted || ofOneValue(first.Moves, tag) {
		return first
	}
	var tried []callclass.Values
	for _, c := range m.Classes {
		if tag(c) == 0 || slices.ContainsFunc(tried, c.HasValues) {
			continue
		}
		v := c.Values()
		tried = append(tried, v)
		q.Tag = func(s *callclass.Class) uint8 {
			if !s.Takes(v) {
				return 0
			}
			return tag(s)
		}
		if a := m.Model.Never(q, nets); a.Result == explore.Refuted && ofOneValue(a.Moves, q.Tag) {
			return a
		}
	}
	return explore.Answer{Why: explore.WhyValues}
}

// ofOneValue reports whether the counting calls of the run have a common value when the run is
// printed; maps may require different ones.
func ofOneValue(ms []explore.Move, tag func(*callclass.Class) uint8) bool {
	var classes []*callclass.Class
	for _, mv := range ms {
		if mv.Class != nil {
			classes = append(classes, mv.Class)
		}
	}
	v := callclass.Common(classes)
	return !slices.ContainsFunc(classes, func(s *callclass.Class) bool { return tag(s) != 0 && !s.Takes(v) })
}

// Budgeted asks the model with the same restriction.
func (m *prover) Budgeted(tag func(*callclass.Class) uint8, count int, b explore.Budget) (net int, ok bool) {
	if m.each != nil {
		tag = m.each.narrow(tag)
	}
	return m.Model.Budgeted(tag, count, b)
}
