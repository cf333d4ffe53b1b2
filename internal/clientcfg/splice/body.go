package splice

import (
	"reflect"
	"strings"
)

// A body is the text of a file in a form that can be edited. Edits return new text and do not
// modify the body.
type body interface {
	// entries returns the entries at a place, in file order.
	entries(at Place) ([]Entry, error)
	// replace removes the named entries. It inserts the new ones where the first removed entry was
	// or, if none was removed, at the end.
	replace(at Place, remove []string, add []New) ([]byte, error)
	// restore removes the entry named ours, and inserts the named entries of the old file.
	restore(at Place, old body, names []string, ours string) ([]byte, error)
}

// An Entry is one of the entries at a place.
type Entry struct {
	Name         string
	Value        any // decoded as by encoding/json with UseNumber
	Line, Column int
}

// A New is an entry to be added.
type New struct {
	Name  string
	Value Object
}

// presentIn reports whether the entries now include n with exactly the same value.
func (n New) presentIn(now map[string]any, at Place) bool {
	got, ok := now[n.Name]
	return ok && reflect.DeepEqual(got, Plain(n.Value.named(at, n.Name)))
}

// A Place is a location in a file that contains entries.
type Place struct {
	Path []string // keys that lead to the mapping or list
	// Named is the key that contains an entry's name if the entries are elements of a list. If it
	// is empty, the entries are members of a mapping.
	Named string
}

// String returns the path with dots between the keys.
func (p Place) String() string { return strings.Join(p.Path, ".") }

// A Format is the syntax of a file.
type Format string

// Supported formats. JSON may contain comments and trailing commas.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// Limits that prevent a hostile file from exhausting memory or the stack.
const (
	maxSize  = 64 << 20
	maxDepth = 1000
)

const byteOrderMark = "\ufeff"
