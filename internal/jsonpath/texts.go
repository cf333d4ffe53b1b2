package jsonpath

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Texts are the strings at one place of a document.
type Texts struct {
	one     [1]string // the value, if it is a single certain string
	values  [][]byte  // other values; the texts are their leaves
	all     []string  // all leaves, followed by their concatenation; computed lazily
	weak    bool
	present bool // the document has the place
}

// Empty returns Texts of one empty string.
func Empty() Texts { return Texts{present: true} }

// Member reads the texts of a top-level member of a document.
func Member(doc []byte, key string) (t Texts) {
	eachMember(doc, key, false, t.add)
	return t
}

// Texts reads the texts of the values in doc that the path selects. If the path can select several
// values, the texts are weak.
func (p Path) Texts(doc []byte) Texts {
	t := Texts{weak: p.Many()}
	p.values(doc, false, t.add)
	return t
}

// Weak reports whether the texts must not count as evidence, because the place might hold something
// other than a single string.
func (t *Texts) Weak() bool { return t.weak }

// add adds a value. A doubtful value, or one that is not a string, makes the texts weak.
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

// leaves yields the leaves of all values until yield returns false.
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

// All returns the texts. If there are several leaves, the last text is all of them joined by
// spaces.
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

// Exceeds reports whether the place is weak (see [Texts.Weak]) and has at least the given number of
// leaves, or whether its texts have more than the given number of bytes in total. It stops reading
// leaves as soon as the answer is known.
func (t *Texts) Exceeds(texts, bytes int) bool {
	n, size := 0, 0
	t.leaves(func(leaf string) bool {
		n, size = n+1, size+len(leaf)
		return n < texts && size <= bytes
	})
	if n > 1 { // All adds the concatenation of the leaves
		size += size + n - 1
	}
	return n >= texts || size > bytes
}
