package jsonpath

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Texts are the strings in one place of a document.
type Texts struct {
	one    [1]string // the value, if it is a string
	values [][]byte  // other values, whose leaves count
	all    []string  // the leaves, then all of them as one text, read lazily
	weak   bool
	some   bool // the document has the place
}

// Empty returns one empty string.
func Empty() Texts { return Texts{some: true} }

// Member reads a member of a document.
func Member(doc []byte, key string) (t Texts) {
	eachMember(doc, key, false, t.put)
	return t
}

// Texts reads the values in doc to which the path leads. None of several is evidence.
func (p Path) Texts(doc []byte) Texts {
	t := Texts{weak: p.Many()}
	p.values(doc, false, t.put)
	return t
}

// Weak reports whether the place does not certainly hold a single string, so that
// it is no evidence.
func (t *Texts) Weak() bool { return t.weak }

// put adds a value. A doubtful value is no evidence.
func (t *Texts) put(raw []byte, doubt bool) {
	t.some = true
	one, ok := rawjson.String(raw)
	if ok && !t.weak && !doubt {
		t.one[0] = one
		return
	}
	t.weak = true
	t.values = append(t.values, raw)
}

// leaves yields those of all values, as long as it returns true.
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

// All returns the strings; of several also, at the end, all of them as one.
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
	case t.some:
		return t.one[:]
	default:
		return nil
	}
}

// Exceeds reports whether the leaves of a weak place are at least so many texts, or
// all texts more bytes. It looks at no more of them than it must.
func (t *Texts) Exceeds(texts, bytes int) bool {
	n, size := 0, 0
	t.leaves(func(leaf string) bool {
		n, size = n+1, size+len(leaf)
		return n < texts && size <= bytes
	})
	if n > 1 { // there is one more, with all in one
		size += size + n - 1
	}
	return n >= texts || size > bytes
}
