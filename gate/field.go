package gate

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// field is what one member of the arguments says, as strings.
type field struct {
	key  string
	text [1]string // of a string
	all  []string  // of another value: its leaves, then all of them in one
	weak bool      // it is not a string, so it is no evidence
	some bool      // it is there
}

// readOnce is the field with this key among those that were read, read now if
// it is not there yet.
func readOnce(read []field, args []byte, key string) ([]field, *field) {
	for i := range read {
		if read[i].key == key {
			return read, &read[i]
		}
	}
	read = append(read, readField(args, key))
	return read, &read[len(read)-1]
}

// readField reads a member of the arguments.
func readField(args []byte, key string) field {
	f := field{key: key}
	raw, ok := rawjson.Member(args, key)
	if !ok {
		return f
	}
	f.some = true
	if f.text[0], ok = rawjson.String(raw); ok {
		return f
	}
	f.weak = true
	rawjson.Leaves(raw, func(leaf string) bool {
		f.all = append(f.all, leaf)
		return true
	})
	if len(f.all) > 1 {
		f.all = append(f.all, strings.Join(f.all, " "))
	}
	return f
}

// texts are the strings that the field stands for.
func (f *field) texts() []string {
	switch {
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
