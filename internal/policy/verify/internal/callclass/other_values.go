package callclass

import (
	"maps"
	"slices"
	"strconv"

	"github.com/petrigate/petrigate/gate"
)

// The model of a net with a key tracks a single key value and admits all calls with other values.
// The gate can only replay a run if these calls have concrete values. They get numbered values,
// which are chosen so that the gate admits the run.

// TracksFirst reports whether calls of class s have the tracked value in the first argument field
// of each [sort], a set of comparable fields. Fields that the calls lack do not count. Sorts with a
// field in chosen are ignored. A search can be limited to such classes, because any value can be
// chosen as the tracked one.
func (s *Class) TracksFirst(chosen ...gate.Field) bool {
	var seen []int
	for _, f := range chosen {
		if i := slices.IndexFunc(s.Data, func(d Datum) bool { return d.Field == normalize(f) }); i >= 0 {
			seen = append(seen, s.Data[i].sort)
		}
	}
	for _, d := range s.Data {
		if d.Field.Result || d.Has == Lacks || slices.Contains(seen, d.sort) {
			continue
		}
		if d.Has == Other {
			return false
		}
		seen = append(seen, d.sort)
	}
	return true
}

// Owns reports whether s has the tracked value in every field where the other class has an
// untracked value, and the classes are otherwise equal.
func (s *Class) Owns(other *Class) bool {
	return s.Tool == other.Tool && slices.Equal(s.labels, other.labels) &&
		slices.EqualFunc(s.Data, other.Data, func(a, b Datum) bool {
			if b.Has == Other {
				b.Has = Same
			}
			return a == b
		})
}

// numberedValue returns the literal for additional value number n.
func numberedValue(n int) literal { return quoteJSON("v" + strconv.Itoa(n)) }

// ArgsWithValue returns arguments for a call of class s. In the arguments, additional value number
// n replaces the untracked value. ok is false if calls of the class have no untracked value, or if
// the names of the class do not permit this value.
func (s *Class) ArgsWithValue(v Values, n int) (args string, ok bool) {
	if s.of == nil || !s.HasOther() {
		return "", false
	}
	v.other = make(map[int]literal)
	for _, d := range s.Data {
		if d.Has == Other {
			v.other[d.sort] = numberedValue(n)
		}
	}
	return s.of.arguments(v)
}

// RenewTracked returns a copy of the tracked values in v. In each [sort] where calls of class s
// have an untracked value, the additional value number n replaces the tracked value.
func (s *Class) RenewTracked(v Values, n int) Values {
	same := maps.Clone(v.same)
	if same == nil {
		same = make(map[int]literal)
	}
	for _, d := range s.Data {
		if d.Has == Other {
			same[d.sort] = numberedValue(n)
		}
	}
	return Values{same: same}
}

// Mixed reports whether calls of class s have both the tracked value and another value in the same
// [sort]. Such calls cannot be replayed with a single additional value.
func (s *Class) Mixed() bool {
	return slices.ContainsFunc(s.Data, func(d Datum) bool { return d.Has == Other && s.same(d.sort) })
}

func (s *Class) same(sort int) bool {
	return slices.ContainsFunc(s.Data, func(d Datum) bool { return d.sort == sort && d.Has == Same && !d.Field.Result })
}

// ClassUnder returns the class of calls of class s after [Class.RenewTracked] has replaced the
// tracked values for calls of class to. Fields with a replaced value are then untracked, and fields
// of the result are absent. If no such class is known, ClassUnder returns nil.
func (s *Class) ClassUnder(to *Class) *Class {
	if len(s.Data) == 0 {
		return s
	}
	data := slices.Clone(s.Data)
	for i := range data {
		d := &data[i]
		switch {
		case d.Field.Result:
			d.Has = Lacks
		case d.Has == Same && slices.ContainsFunc(to.Data, func(t Datum) bool { return t.sort == d.sort && t.Has == Other }):
			d.Has = Other
		}
	}
	return withData(s.alike, data)
}
