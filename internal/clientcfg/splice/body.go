package splice

import (
	"reflect"
	"strings"
)

// A body is the text of a file in an editable form. Edits return new text and do not change the
// body.
type body interface {
	// entries lists the entries at a place in file order.
	entries(at Place) ([]Entry, error)
	// replace removes entries, and inserts new ones at the position of the first removed entry, or
	// at the end.
	replace(at Place, remove []string, add []New) ([]byte, error)
	// restore removes the entry named ours, and inserts entries of old.
	restore(at Place, old body, names []string, ours string) ([]byte, error)
}

// An Entry is one entry at a place.
type Entry struct {
	Name         string
	Value        any // decoded in the form of encoding/json with UseNumber
	Line, Column int
}

// A New is an entry to add.
type New struct {
	Name  string
	Value Object
}

// presentIn reports whether the entries of a place include n with exactly this value.
func (n New) presentIn(now map[string]any, at Place) bool {
	got, ok := now[n.Name]
	return ok && reflect.DeepEqual(got, Plain(n.Value.named(at, n.Name)))
}

// A Place is the location of entries in a file.
type Place struct {
	Path []string // keys that lead to a mapping
	// Named is the key that holds the name of an entry if the entries form a list. If it is empty,
	// they are members of a mapping.
	Named string
}

// String returns the path joined with dots.
func (p Place) String() string { return strings.Join(p.Path, ".") }

// A Format is the syntax of a file.
type Format string

// The formats. JSON may contain comments and trailing commas.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// Limits that keep a hostile file from exhausting memory or the stack.
const (
	maxSize  = 64 << 20
	maxDepth = 1000
)

const byteOrderMark = "\ufeff"
