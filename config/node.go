package config

// A node is one value of a file together with the place where it stands. YAML
// and JSON both become nodes; what they mean is decided afterwards, so that
// every problem found later still has its position.
type node struct {
	kind   kind
	text   string  // the scalar: decoded text, or a number as it was written
	items  []*node // of a list
	fields []field // of a mapping, in the order of the file

	line, column       int // of the first character, from 1
	endLine, endColumn int // behind the last character of a scalar
	block              bool
	open               bool // it has variables that were not looked up: what it says is not known
}

type field struct {
	key   *node // always text
	value *node
}

type kind uint8

const (
	nullKind   kind = iota
	brokenKind      // a value that the reader refused
	boolKind
	numberKind
	textKind
	listKind
	mapKind
)

// String returns words for people for values of this kind.
func (k kind) String() string {
	return [...]string{"nothing", "", "true or false", "a number", "text", "a list", "a mapping"}[k]
}

// get returns the value of a key of a mapping, or nil.
func (n *node) get(key string) *node {
	for _, f := range n.entries() {
		if f.key.text == key {
			return f.value
		}
	}
	return nil
}

// entries returns the fields of a mapping; n may be nil.
func (n *node) entries() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

// list returns the items of a list; n may be nil.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// The limits keep a hostile or broken file from costing more than it says. A
// file that a person wrote is far below all of them.
const (
	maxSize   = 4 << 20 // bytes of one file
	maxYAML   = 1 << 20 // bytes of one file that is not JSON
	maxKeys   = 10_000  // of one file that is not JSON: the parser is quadratic in them
	maxDepth  = 100     // of nested values
	maxNodes  = 100_000 // values after aliases are expanded
	maxErrors = 100     // of one file; the rest would not be read
)
