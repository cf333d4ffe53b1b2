package config

// A node is one value of a file together with its position. Both YAML and JSON are parsed into
// nodes and interpreted later, so that every problem found later still has its position.
type node struct {
	kind   kind
	text   string  // scalars: decoded text, or a number as written
	items  []*node // of a list
	fields []field // of a mapping, in file order

	line, column       int // first character, counted from 1
	endLine, endColumn int // after the last character of a scalar
	block              bool
	unresolved         bool // the text contains references that were not looked up, so its value is unknown
}

type field struct {
	key   *node // always text
	value *node
}

type kind uint8

const (
	nullKind   kind = iota
	brokenKind      // value that the reader refused
	boolKind
	numberKind
	textKind
	listKind
	mapKind
)

// String returns a description of the kind for messages.
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

// Limits that keep a hostile or broken file from exhausting time or memory. A file written by a
// person stays far below them.
const (
	maxSize   = 4 << 20 // bytes per file
	maxYAML   = 1 << 20 // bytes per file that is not JSON
	maxKeys   = 10_000  // per file that is not JSON: the YAML parser takes quadratic time
	maxDepth  = 100     // levels of nesting
	maxNodes  = 100_000 // values after expansion of aliases
	maxErrors = 100     // per file; more would not be read by anyone
)
