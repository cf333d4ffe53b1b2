package gate

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// field has the strings that the maps read in one place of the arguments.
type field struct {
	key      string
	text     [1]string // the value, if it is a string
	values   [][]byte  // other values; the field has their leaves
	all      []string  // the leaves, then all of them as one text, read lazily
	weak     bool      // it is not a single string, so it is no evidence
	some     bool      // the call has the field
	readings []readings
}

// readings has the readings of one reader of the texts of a field.
type readings struct {
	reader Reader
	all    []Reading
}

// readOnce is the field in this place among those that were read, read now if
// it is not there yet.
func readOnce(read []field, args []byte, at place) ([]field, *field) {
	for i := range read {
		if read[i].key == at.key {
			return read, &read[i]
		}
	}
	switch {
	case at.deep:
		read = append(read, readPath(args, at))
	case at.key == "":
		read = append(read, field{some: true})
	default:
		read = append(read, readField(args, at.key))
	}
	return read, &read[len(read)-1]
}

// readField reads a member of the arguments.
func readField(args []byte, key string) field {
	f := field{key: key}
	eachMember(args, key, false, f.put)
	return f
}

// eachMember yields the member of this key. Where keys differ from it in letter
// case only, there are servers that take one of those for it, and the gate cannot
// know which: then it yields all of them, each as a doubt.
func eachMember(object []byte, key string, doubt bool, yield func(value []byte, doubt bool)) {
	value, ok, variants := rawjson.Variants(object, key)
	switch {
	case variants:
		rawjson.EachVariant(object, key, func(v []byte) { yield(v, true) })
	case ok:
		yield(value, doubt)
	}
}

// readPath reads the values to which a path leads. None of several is evidence.
func readPath(args []byte, at place) field {
	f := field{key: at.key, weak: at.path.Many()}
	at.path.values(args, false, f.put)
	return f
}

// put adds a value. A doubtful value is no evidence.
func (f *field) put(raw []byte, doubt bool) {
	f.some = true
	text, ok := rawjson.String(raw)
	if ok && !f.weak && !doubt {
		f.text[0] = text
		return
	}
	f.weak = true
	f.values = append(f.values, raw)
}

// leaves yields those of all values, as long as it returns true.
func (f *field) leaves(yield func(leaf string) bool) {
	more := true
	for _, v := range f.values {
		rawjson.Leaves(v, func(leaf string) bool {
			more = yield(leaf)
			return more
		})
		if !more {
			return
		}
	}
}

// texts returns the strings of the field.
func (f *field) texts() []string {
	switch {
	case f.weak && f.all == nil:
		f.all = []string{}
		f.leaves(func(leaf string) bool {
			f.all = append(f.all, leaf)
			return true
		})
		if len(f.all) > 1 {
			f.all = append(f.all, strings.Join(f.all, " "))
		}
		return f.all
	case f.weak:
		return f.all
	case f.some:
		return f.text[:]
	default:
		return nil
	}
}

func (f *field) match(ok func(string) bool) bool {
	for _, s := range f.texts() {
		if ok(s) {
			return true
		}
	}
	return false
}

// read returns the readings of the texts by the reader, each made once.
func (f *field) read(c *Call, r Reader) []Reading {
	for i := range f.readings {
		if f.readings[i].reader == r {
			return f.readings[i].all
		}
	}
	made := readings{reader: r}
	if f.weak && f.tooMany() {
		made.all = []Reading{nil} // nothing can be told
	} else {
		for _, s := range f.texts() {
			made.all = append(made.all, readSafely(r, c, s))
		}
	}
	f.readings = append(f.readings, made)
	return made.all
}

// Bounds of what a reader reads of a field that is not one string, so that the
// work for one call is bounded. A reader bounds what it does for one text.
const (
	maxTexts     = 1000
	maxTextBytes = 64 << 10
)

// tooMany reports whether the texts are more than a reader reads. It reads no more
// of them than necessary.
func (f *field) tooMany() bool {
	n, size := 0, 0
	f.leaves(func(leaf string) bool {
		n, size = n+1, size+len(leaf)
		return n < maxTexts && size <= 2*maxTextBytes
	})
	if n > 1 { // there is one more, with all in one
		size += size + n - 1
	}
	return n >= maxTexts || size > 2*maxTextBytes
}

// readSafely reads a text. It returns nil, for doubt, if the reader panics.
func readSafely(r Reader, c *Call, text string) (reading Reading) {
	defer func() {
		if recover() != nil {
			reading = nil
		}
	}()
	return r.Read(c, text)
}
