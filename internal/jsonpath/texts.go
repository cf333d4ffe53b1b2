package jsonpath

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Texts holds the strings that a key or path selects in a document.
type Texts struct {
	one     [1]string // the value, if it is certainly a single string
	values  [][]byte  // any other values; their leaves (strings, numbers and booleans) are the texts
	all     []string  // all leaves, followed by the leaves joined together; computed on demand
	weak    bool
	present bool // whether the key or path selects any value in the document
}

// Empty returns a Texts with a single empty string.
func Empty() Texts { return Texts{present: true} }

// Member returns the texts in a top-level member of an object.
func Member(doc []byte, key string) (t Texts) {
	eachMember(doc, key, false, t.add)
	return t
}

// Texts returns the texts in the values that the path selects in doc. If the path can select
// several values, the texts are weak; see [Texts.Weak].
func (p Path) Texts(doc []byte) Texts {
	t := Texts{weak: p.Many()}
	p.values(doc, false, t.add)
	return t
}

// Weak reports whether the key or path might select something other than a single string. If so,
// the texts must not count as evidence.
func (t *Texts) Weak() bool { return t.weak }

// add adds a value that the key or path selects. If parsers may disagree about the value, or if it
// is not a string, the texts become weak.
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

// leaves calls yield for the leaves of all values until yield returns false.
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

// All returns the texts. If there are several leaves, the last text consists of all leaves, joined
// with spaces.
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

// Exceeds reports whether the texts are weak (see [Texts.Weak]) and consist of at least the given
// number of leaves, or of more than the given number of bytes. It stops reading as soon as the
// answer is known.
func (t *Texts) Exceeds(texts, bytes int) bool {
	n, size := 0, 0
	t.leaves(func(leaf string) bool {
		n, size = n+1, size+len(leaf)
		return n < texts && size <= bytes
	})
	if n > 1 { // count the bytes of the joined leaves, too (see [Texts.All])
		size += size + n - 1
	}
	return n >= texts || size > bytes
}
