package jsonpath

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Texts holds the strings that a key or path selects in a document.
type Texts struct {
	one     [1]string // the selected value, if parsers agree that it is a single string
	values  [][]byte  // other selected values, as JSON
	all     []string  // cached result of [Texts.All]; nil if not cached
	weak    bool
	present bool // whether the key or path selects any value in the document
}

// Empty returns a Texts with a single empty string.
func Empty() Texts { return Texts{present: true} }

// Member returns the strings in a top-level member of an object.
func Member(doc []byte, key string) (t Texts) {
	eachMember(doc, key, false, t.add)
	return t
}

// Texts returns the strings in the values that the path selects in doc. If the path can select
// several values, the result is weak; see [Texts.Weak].
func (p Path) Texts(doc []byte) Texts {
	t := Texts{weak: p.Many()}
	p.values(doc, false, t.add)
	return t
}

// Weak reports whether the key or path might select something other than a single string. A policy
// must not use such a selection to conclude that a call meets a requirement.
func (t *Texts) Weak() bool { return t.weak }

// add adds a selected value. If the value is not a string, or if parsers might disagree about it,
// add marks t as weak; see [Texts.Weak].
func (t *Texts) add(raw []byte, doubt bool) {
	t.present = true
	one, ok := rawjson.String(raw)
	if ok && !t.weak && !doubt {
		t.one[0] = one
		return
	}
	t.weak = true
	t.values = append(t.values, raw)
}

// leaves calls yield for each string, number and boolean in t.values, at any depth, until yield
// returns false.
func (t *Texts) leaves(yield func(leaf string) bool) {
	more := true
	for _, v := range t.values {
		rawjson.Leaves(v, func(leaf string) bool {
			more = yield(leaf)
			return more
		})
		if !more {
			return
		}
	}
}

// All returns the strings. If there is more than one, it appends a string that consists of all of
// them, joined with spaces.
func (t *Texts) All() []string {
	switch {
	case t.weak && t.all == nil:
		t.all = []string{}
		t.leaves(func(leaf string) bool {
			t.all = append(t.all, leaf)
			return true
		})
		if len(t.all) > 1 {
			t.all = append(t.all, strings.Join(t.all, " "))
		}
		return t.all
	case t.weak:
		return t.all
	case t.present:
		return t.one[:]
	default:
		return nil
	}
}

// Exceeds reports whether the result of [Texts.All] would have more than the given number of
// strings or more than the given number of bytes. The number of strings must be at least 2. Exceeds
// stops reading as soon as it knows the answer. If t is not weak, Exceeds returns false.
func (t *Texts) Exceeds(texts, bytes int) bool {
	n, size := 0, 0
	t.leaves(func(leaf string) bool {
		n, size = n+1, size+len(leaf)
		return n < texts && size <= bytes
	})
	if n > 1 { // Texts.All also returns all strings joined with spaces; count the bytes of this string, too
		size += size + n - 1
	}
	return n >= texts || size > bytes
}
