package config

// A node is a value in a file and its position. Both YAML and JSON are first parsed into nodes and
// then interpreted, so that problems found during interpretation have positions, too.
type node struct {
	kind   kind
	text   string  // decoded text of a scalar; for a number, the text as in the file
	items  []*node // items of a list
	fields []field // fields of a mapping, in file order

	line, column       int // position of the first character, counted from 1
	endLine, endColumn int // position after the last character of a scalar
	block              bool
	unresolved         bool // whether the text contains references that were not looked up, so that the value is unknown
}

type field struct {
	key   *node // its kind is always textKind
	value *node
}

type kind uint8

const (
	nullKind   kind = iota
	brokenKind      // the reader rejected the value and has already reported it
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

// get returns the value of a key in a mapping, or nil if the mapping does not have the key.
func (n *node) get(key string) *node {
	for _, f := range n.entries() {
		if f.key.text == key {
			return f.value
		}
	}
	return nil
}

// entries returns the fields of a mapping. n may be nil.
func (n *node) entries() []field {
	if n == nil {
		return nil
	}
	return n.fields
}

// list returns the items of a list. n may be nil.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// These limits keep a hostile or broken file from exhausting time or memory. Ordinary files stay
// far below them.
const (
	maxSize   = 4 << 20 // maximum size of a file in bytes
	maxYAML   = 1 << 20 // maximum size of a file that is not JSON, in bytes
	maxKeys   = 10_000  // maximum number of keys in a file that is not JSON, because the YAML parser takes quadratic time
	maxDepth  = 100     // maximum nesting depth
	maxNodes  = 100_000 // maximum number of values after expanding aliases
	maxErrors = 100     // maximum number of errors reported per file, because people would not read more
)
