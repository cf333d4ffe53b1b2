package splice

import (
	"reflect"
	"strings"
)

// A body is the editable text of a file. Edits return new text and do not modify the body.
type body interface {
	// entries returns the entries of the mapping or list at the given place, in file order.
	entries(at Place) ([]Entry, error)
	// replace removes the named entries from the mapping or list at the given place. It inserts the
	// new entries where the first removed entry was or, if no entry is removed, at the end.
	replace(at Place, remove []string, add []New) ([]byte, error)
	// restore does the work of [Document.Restore], without checking the result.
	restore(at Place, old body, names []string, ours string) ([]byte, error)
}

// An Entry is a named value in the mapping or list at a [Place].
type Entry struct {
	Name         string
	Value        any // value as decoded by encoding/json with UseNumber
	Line, Column int
}

// A New is an entry to be added to a mapping or list in a file.
type New struct {
	Name  string
	Value Object
}

// presentIn reports whether now contains n with the same value. now holds the entries at the given
// place in a file, keyed by name.
func (n New) presentIn(now map[string]any, at Place) bool {
	got, ok := now[n.Name]
	return ok && reflect.DeepEqual(got, Plain(n.Value.named(at, n.Name)))
}

// A Place is the location of a mapping or a list in a file. The members of the mapping, or the
// elements of the list, are called entries.
type Place struct {
	Path []string // keys on the path to the mapping or list
	// Named is the key that contains an entry's name if the entries are elements of a list. It is
	// empty if the entries are members of a mapping, whose keys are their names.
	Named string
}

// String returns the keys of the path, joined by dots.
func (p Place) String() string { return strings.Join(p.Path, ".") }

// A Format is the syntax of a file.
type Format string

// The supported formats. JSON may contain comments and trailing commas.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// Limits that prevent a malicious file from exhausting memory or the stack.
const (
	maxSize  = 64 << 20
	maxDepth = 1000
)

const byteOrderMark = "\ufeff"
