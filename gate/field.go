package gate

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// field is what one member of the arguments says, as strings.
type field struct {
	text [1]string // of a string
	all  []string  // of another value: its leaves, then all of them in one
	weak bool      // it is not a string, so it is no evidence
	some bool      // it is there
}

// readField reads a member of the arguments.
func readField(args []byte, key string) *field {
	raw, ok := rawjson.Member(args, key)
	if !ok {
		return &field{}
	}
	if s, ok := rawjson.String(raw); ok {
		return &field{text: [1]string{s}, some: true}
	}
	f := &field{weak: true, some: true}
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
