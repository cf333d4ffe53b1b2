package jsonpath

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Fault is the reason why a path or key selects no usable scalars in a document.
type Fault uint8

const (
	None      Fault = iota // no fault
	Absent                 // the value, or part of the path to it, does not exist
	Unfit                  // the value is null, an object, or an array within an array
	NoElement              // the value is an empty array
	Doubtful               // a key occurs twice, or two keys differ only in letter case
	Excess                 // there are more scalars than allowed
)

// Key returns the path that selects the top-level member with the given key.
func Key(key string) Path { return Path{steps: []step{{key: key, index: noIndex}}} }

// Scalars returns the distinct scalars that the path selects in doc, in order and in the canonical
// form of [Scalar]. An array at the end of the path stands for its elements. If there is a fault,
// such as more scalars than the limit, Scalars returns only the fault.
func (p Path) Scalars(doc []byte, limit int) ([]string, Fault) {
	s := scalars{limit: limit}
	if s.walk(p.steps, doc); s.fault != None {
		return nil, s.fault
	}
	return s.all, None
}

// Readable returns the same scalars as [Path.Scalars], but skips array elements that cause a fault,
// and ignores all scalars beyond the limit.
func (p Path) Readable(doc []byte, limit int) ([]string, Fault) {
	s := scalars{limit: limit, lenient: true}
	if s.walk(p.steps, doc); len(s.all) > 0 {
		return s.all, None
	}
	return nil, max(s.fault, Absent)
}

// Scalars returns the distinct scalars in value, or a fault; see [Path.Scalars].
func Scalars(value []byte, limit int) ([]string, Fault) { return Path{}.Scalars(value, limit) }

// A scalars value collects scalars until there is a fault.
type scalars struct {
	limit   int
	lenient bool // whether to skip array elements with faults
	all     []string
	seen    map[string]bool // set of the collected scalars; nil until there are many
	fault   Fault
}

// walk collects the scalars that the given steps select in doc.
func (s *scalars) walk(steps []step, doc []byte) {
	if len(steps) == 0 {
		s.value(doc)
		return
	}
	first, rest := steps[0], steps[1:]
	switch kind := rawjson.Kind(doc); {
	case first.index == noIndex && kind == '{':
		value, fault := uniqueMember(doc, first.key)
		if s.fault = fault; fault == None {
			s.walk(rest, value)
		}
	case first.index != noIndex && kind == '[':
		s.elements(doc, first.index, func(v []byte) { s.walk(rest, v) })
	default:
		s.fault = Unfit
	}
}

// elements passes the array element at the given index to the function add. If the index is the
// constant every, it passes each element.
func (s *scalars) elements(array []byte, index int, add func([]byte)) {
	number, some := 0, false
	rawjson.Elements(array, func(v []byte, _ int) bool {
		if index == every || index == number {
			some = true
			if add(v); s.lenient && index == every {
				s.fault = None
			}
		}
		number++
		return s.fault == None && (index == every || number <= index)
	})
	switch {
	case some:
	case index == every:
		s.fault = NoElement
	default:
		s.fault = Absent
	}
}

// uniqueMember returns the value of the member with the given key. It returns a fault if the key
// occurs more than once, or if other keys differ from it only in letter case.
func uniqueMember(object []byte, key string) ([]byte, Fault) {
	var value []byte
	found := 0
	rawjson.Members(object, func(k, v []byte, _ int) bool {
		if strings.EqualFold(string(k), key) {
			found++
			if string(k) == key {
				value = v
			}
		}
		return true
	})
	switch {
	case found == 0:
		return nil, Absent
	case found > 1 || value == nil:
		return nil, Doubtful
	default:
		return value, None
	}
}

// value adds a scalar, or the scalars in an array.
func (s *scalars) value(v []byte) {
	if rawjson.Kind(v) == '[' {
		s.elements(v, every, s.add)
		return
	}
	s.add(v)
}

func (s *scalars) add(v []byte) {
	text, ok := Scalar(v)
	switch {
	case !ok:
		s.fault = Unfit
	case s.has(text):
	case len(s.all) == s.limit:
		s.fault = Excess
	default:
		s.all = append(s.all, text)
		if s.seen != nil {
			s.seen[text] = true
		}
	}
}

func (s *scalars) has(text string) bool {
	const few = 16
	if s.seen == nil && len(s.all) < few {
		return slices.Contains(s.all, text)
	}
	if s.seen == nil {
		s.seen = make(map[string]bool)
		for _, t := range s.all {
			s.seen[t] = true
		}
	}
	return s.seen[text]
}
