package config

// A node is a value in a file together with its position. Both YAML and JSON are parsed into nodes
// and interpreted later, so that every problem that is found later still has a position.
type node struct {
	kind   kind
	text   string  // for scalars: the decoded text, or a number as written
	items  []*node // for lists
	fields []field // for mappings, in file order

	line, column       int // position of the first character, counted from 1
	endLine, endColumn int // position after the last character of a scalar
	block              bool
	unresolved         bool // the text contains references that were not looked up, so the value is unknown
}

type field struct {
	key   *node // always a text
	value *node
}

type kind uint8

const (
	nullKind   kind = iota
	brokenKind      // a value that the reader rejected
	boolKind
	numberKind
	textKind
	listKind
	mapKind
)

// String describes the kind for use in messages.
func (k kind) String() string {
	return [...]string{"nothing", "", "true or false", "a number", "text", "a list", "a mapping"}[k]
}

// get returns the value of the given key in a mapping, or nil.
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

// Limits that keep a hostile or broken file from exhausting time or memory. Files written by people
// stay far below them.
const (
	maxSize   = 4 << 20 // maximum bytes per file
	maxYAML   = 1 << 20 // maximum bytes per file that is not JSON
	maxKeys   = 10_000  // maximum keys per file that is not JSON, because the YAML parser takes quadratic time
	maxDepth  = 100     // maximum nesting depth
	maxNodes  = 100_000 // maximum number of values after the expansion of aliases
	maxErrors = 100     // maximum errors per file; people would not read more
)
