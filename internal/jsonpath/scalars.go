package jsonpath

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Fault says why a place has no scalars.
type Fault uint8

const (
	None      Fault = iota // it has
	Absent                 // the document does not have the place, or not all of it
	Unfit                  // null, an object, or a list inside a list
	NoElement              // a list of nothing
	Doubtful               // a key of other letter case, or the key twice
	Excess                 // more than were allowed
)

// Key returns the path to a member of a document.
func Key(key string) Path { return Path{steps: []step{{key: key, index: noIndex}}} }

// Scalars returns the different scalars in doc to which the path leads, at most
// most, in their order and in the form of [Scalar]. A list at its end stands for its
// elements. It returns all of them or, with a fault, none.
func (p Path) Scalars(doc []byte, most int) ([]string, Fault) {
	s := scalars{most: most}
	if s.walk(p.steps, doc); s.fault != None {
		return nil, s.fault
	}
	return s.all, None
}

// Readable returns the scalars to which the path leads, as [Path.Scalars] does, but
// leaves out the elements of lists in which there are none, and what is more than most.
func (p Path) Readable(doc []byte, most int) ([]string, Fault) {
	s := scalars{most: most, partly: true}
	if s.walk(p.steps, doc); len(s.all) > 0 {
		return s.all, None
	}
	return nil, max(s.fault, Absent)
}

// Scalars returns the scalars of a value, as [Path.Scalars] does.
func Scalars(value []byte, most int) ([]string, Fault) { return Path{}.Scalars(value, most) }

// scalars collects the scalars of a place, until there is a fault.
type scalars struct {
	most   int
	partly bool // faults in lists count for their elements alone
	all    []string
	seen   map[string]bool // of all, if they are many
	fault  Fault
}

// walk adds what the steps lead to in doc.
func (s *scalars) walk(steps []step, doc []byte) {
	if len(steps) == 0 {
		s.value(doc)
		return
	}
	first, rest := steps[0], steps[1:]
	switch kind := rawjson.Kind(doc); {
	case first.index == noIndex && kind == '{':
		value, fault := only(doc, first.key)
		if s.fault = fault; fault == None {
			s.walk(rest, value)
		}
	case first.index != noIndex && kind == '[':
		s.elements(doc, first.index, func(v []byte) { s.walk(rest, v) })
	default:
		s.fault = Unfit
	}
}

// elements adds one element of an array, or every one.
func (s *scalars) elements(array []byte, index int, add func([]byte)) {
	number, some := 0, false
	rawjson.Elements(array, func(v []byte, _ int) bool {
		if index == every || index == number {
			some = true
			if add(v); s.partly && index == every {
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

// only returns the member of this key, if no other can be taken for it.
func only(object []byte, key string) ([]byte, Fault) {
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

// value adds a scalar, or those of a list.
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
	case len(s.all) == s.most:
		s.fault = Excess
	default:
		s.all = append(s.all, text)
		if s.seen != nil {
			s.seen[text] = true
		}
	}
}

// has reports whether the scalar was added before.
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
