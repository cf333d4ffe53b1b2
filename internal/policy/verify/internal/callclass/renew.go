package callclass

import (
	"maps"
	"slices"
	"strconv"
)

// A keyed net lets calls of other values than the tracked one pass. For the gate each of
// them has a value, too: a run is played with values that make the gate admit it.

// OfItself reports whether the call has the tracked value in the first field of each sort.
// Every call with a value is such a call for a suitable tracked value.
func (s *Class) OfItself() bool {
	var seen []int
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

// Owns reports whether s is what a call of the class other is for the value that it has.
func (s *Class) Owns(other *Class) bool {
	return s.Tool == other.Tool && slices.Equal(s.labels, other.labels) &&
		slices.EqualFunc(s.Data, other.Data, func(a, b Datum) bool {
			if b.Has == Other {
				b.Has = Same
			}
			return a == b
		})
}

// numbered is the literal of further value n.
func numbered(n int) literal { return quoted("v" + strconv.Itoa(n)) }

// Renewed are the arguments of a call of the class with further value n instead of the
// other value; ok is false if the names of the class do not permit it.
func (s *Class) Renewed(v Values, n int) (args string, ok bool) {
	if s.of == nil || !s.Another() {
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

// AsSame are the values v, with further value n in the place of the tracked value where
// calls of the class have another.
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
