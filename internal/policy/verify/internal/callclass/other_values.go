package callclass

import (
	"maps"
	"slices"
	"strconv"

	"github.com/petrigate/petrigate/gate"
)

// A keyed net is modeled as admitting calls with other values than the tracked one. To the gate,
// each of those calls has a value too. To replay a run, these values are chosen such that the gate
// admits it.

// OfItself reports whether the call has the tracked value in the first field of each sort. Every
// call with a value is such a call for a suitable tracked value. Sorts of the chosen fields are
// ignored, because the question fixes their value.
func (s *Class) OfItself(chosen ...gate.Field) bool {
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

// Owns reports whether s is the class of a call of the class other from the viewpoint of its own
// value.
func (s *Class) Owns(other *Class) bool {
	return s.Tool == other.Tool && slices.Equal(s.labels, other.labels) &&
		slices.EqualFunc(s.Data, other.Data, func(a, b Datum) bool {
			if b.Has == Other {
				b.Has = Same
			}
			return a == b
		})
}

// numbered returns the literal of additional value n.
func numbered(n int) literal { return quoted("v" + strconv.Itoa(n)) }

// Renewed returns the arguments of a call of the class with additional value n as its other value;
// ok is false if the names of the class do not permit it.
func (s *Class) Renewed(v Values, n int) (args string, ok bool) {
	if s.of == nil || !s.HasOther() {
		return "", false
	}
	v.other = make(map[int]literal)
	for _, d := range s.Data {
		if d.Has == Other {
			v.other[d.sort] = numbered(n)
		}
	}
	return s.of.arguments(v)
}

// AsSame returns the values v with additional value n as the tracked value of the sorts where calls
// of the class have another value.
func (s *Class) AsSame(v Values, n int) Values {
	same := maps.Clone(v.same)
	if same == nil {
		same = make(map[int]literal)
	}
	for _, d := range s.Data {
		if d.Has == Other {
			same[d.sort] = numbered(n)
		}
	}
	return Values{same: same}
}

// Mixed reports whether the call has, within one sort, both the tracked value and another one. No
// call of a single additional value has this form.
func (s *Class) Mixed() bool {
	return slices.ContainsFunc(s.Data, func(d Datum) bool { return d.Has == Other && s.same(d.sort) })
}

func (s *Class) same(sort int) bool {
	return slices.ContainsFunc(s.Data, func(d Datum) bool { return d.sort == sort && d.Has == Same && !d.Field.Result })
}

// On returns the class of a call like those of s, but made with the values of [Class.AsSame]: it
// has another value than the tracked one where calls of the class to have one. It is nil if no such
// class is known. A field of a result does not have the value.
func (s *Class) On(to *Class) *Class {
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
	if i := slices.IndexFunc(s.alike, func(t *Class) bool { return slices.Equal(t.Data, data) }); i >= 0 {
		return s.alike[i]
	}
	return nil
}
