package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

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

// narrow returns a variant of tag that selects only calls with the tracked value, the only key
// value that the proof considers. For a [NeverBefore], it also selects calls to Tool without a key
// value, because no earlier call can have the same value.
func (a *ForEach) narrow(tag func(*callclass.Class) uint8) func(*callclass.Class) uint8 {
	if tag == nil {
		return nil
	}
	_, before := a.Of.(NeverBefore)
	return func(s *callclass.Class) uint8 {
		bits := tag(s)
		for _, c := range a.Key {
			if has := s.PresenceOf(c.Field); has == callclass.Other || has == callclass.Lacks && !before {
				bits &^= explore.Wanted | repeatTag
			}
			if s.PresenceOf(c.Other) != callclass.Same {
				bits &= explore.Wanted | repeatTag
			}
		}
		return bits
	}
}

// hasTrackedValue reports whether calls of class s have the tracked value. The tracked value is the
// one key value that the proof considers. If a key compares several fields, only the first field
// that is present counts. hasTrackedValue ignores the key of a [ForEach] claim, because
// [ForEach.narrow] checks it.
func (m *prover) hasTrackedValue(s *callclass.Class) bool {
	if m.each == nil {
		return s.TracksFirst()
	}
	return s.TracksFirst(list.Map(m.each.Key, func(c Compared) gate.Field { return c.Field })...)
}

// NeverMet is like [explore.Model.NeverMet], which tries to prove that no run meets the query. If
// the claim is made for each value of a key, NeverMet considers only calls with the same key value.
func (m *prover) NeverMet(q *explore.Query, nets []int) explore.Answer {
	if m.each == nil {
		return m.Model.NeverMet(q, nets)
	}
	tag := m.each.narrow(q.Tag)
	q.Tag = tag
	first := m.Model.NeverMet(q, nets)
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
		if a := m.Model.NeverMet(q, nets); a.Result == explore.Refuted && ofOneValue(a.Moves, q.Tag) {
			return a
		}
	}
	return explore.Answer{Why: explore.WhyValues}
}

// ofOneValue reports whether all calls selected by tag in the run ms can have the same key value.
// They cannot if map statements that match different values give them their names.
func ofOneValue(ms []explore.Move, tag func(*callclass.Class) uint8) bool {
	classes := explore.ClassesOf(ms)
	v := callclass.CommonValues(classes)
	return !slices.ContainsFunc(classes, func(s *callclass.Class) bool { return tag(s) != 0 && !s.Takes(v) })
}

// FindBudget is like [explore.Model.FindBudget], which looks for a net that bounds the number of
// calls selected by tag. Like [prover.NeverMet], it restricts the question to calls with the same
// key value.
func (m *prover) FindBudget(tag func(*callclass.Class) uint8, count int, b explore.Budget) (net int, ok bool) {
	if m.each != nil {
		tag = m.each.narrow(tag)
	}
	return m.Model.FindBudget(tag, count, b)
}

// repeatTag marks calls to [NeverBefore].Tool. After such a call, First must succeed again, unless
// [NeverBefore].Once is set.
const repeatTag = 8
