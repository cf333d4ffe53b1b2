package rawjson

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
)

// MaxDepth is the maximum nesting of objects and arrays in this package. Callers can set lower
// limits, but no higher ones.
const MaxDepth = 1024

// A SyntaxError describes why a document was rejected.
type SyntaxError struct {
	Offset int // offset of the first invalid byte; the length of the document if it ends too early
	Msg    string
}

func (e *SyntaxError) Error() string {
	return "offset " + strconv.Itoa(e.Offset) + ": " + e.Msg
}

// Check reports whether doc is exactly one JSON value, with only white space around it, that all
// JSON parsers read in the same way. A top-level object or array has depth 1; a depth above
// maxDepth or [MaxDepth] is an error. The error is a [*SyntaxError]. The time is linear in the
// length of doc.
func Check(doc []byte, maxDepth int) error {
	c := checker{doc: doc, max: min(maxDepth, MaxDepth)}
	if c.document() {
		return nil
	}
	return &SyntaxError{Offset: c.at, Msg: c.msg}
}

// checker checks one document. Its methods take the offset of the syntax element that they read and
// return the offset after it, or -1 after a call of fail.
type checker struct {
	doc  []byte
	max  int
	keys keyStack

	at  int
	msg string
}

func (c *checker) fail(at int, msg string) int {
	c.at, c.msg = at, msg
	return -1
}

// unexpected fails at i because want is missing there.
func (c *checker) unexpected(i int, want string) int {
	if i >= len(c.doc) {
		return c.fail(len(c.doc), "unexpected end, want "+want)
	}
	return c.fail(i, "unexpected "+strconv.QuoteToASCII(string(c.doc[i:i+1]))+", want "+want)
}

func (c *checker) document() bool {
	if len(c.doc) >= 3 && string(c.doc[:3]) == "\xef\xbb\xbf" {
		c.fail(0, "byte order mark")
		return false
	}
	i := c.value(skipSpace(c.doc, 0), 0)
	if i < 0 {
		return false
	}
	if i = skipSpace(c.doc, i); i < len(c.doc) {
		c.unexpected(i, "the end of the document")
		return false
	}
	return true
}

// value reads the value at i, which is nested in depth containers.
func (c *checker) value(i, depth int) int {
	switch peek(c.doc, i) {
	case '"':
		end, _ := c.str(i)
		return end
	case '{':
		return c.container(i, depth+1, '}')
	case '[':
		return c.container(i, depth+1, ']')
	}
	if end := scalar(c.doc, i); end > 0 {
		return end
	}
	return c.unexpected(i, "a value")
}

// container reads the object or array at i, whose closing bracket is end.
func (c *checker) container(i, depth int, end byte) int {
	if depth > c.max {
		return c.fail(i, "nested too deeply")
	}
	i = skipSpace(c.doc, i+1)
	if peek(c.doc, i) == end {
		return i + 1
	}
	o := keySet{base: c.keys.n}
	for {
		if end == '}' {
			if i = c.key(&o, i); i < 0 {
				return -1
			}
		}
		if i = c.value(i, depth); i < 0 {
			return -1
		}
		switch i = skipSpace(c.doc, i); peek(c.doc, i) {
		case ',':
			i = skipSpace(c.doc, i+1)
		case end:
			c.keys.n = o.base
			return i + 1
		default:
			return c.unexpected(i, "',' or '"+string(end)+"'")
		}
	}
}

// key reads the key of o at i and the colon, up to the value.
func (c *checker) key(o *keySet, i int) int {
	if peek(c.doc, i) != '"' {
		return c.unexpected(i, "a key")
	}
	end, escaped := c.str(i)
	if end < 0 {
		return -1
	}
	key := c.doc[i+1 : end-1]
	if escaped {
		key = unescape(key)
	}
	c.keys.push(key)
	if o.duplicate(c.keys.from(o.base)) {
		return c.fail(i, "duplicate key")
	}
	i = skipSpace(c.doc, end)
	if peek(c.doc, i) != ':' {
		return c.unexpected(i, "':'")
	}
	return skipSpace(c.doc, i+1)
}

// str reads the string literal at i and reports whether it contains escapes.
func (c *checker) str(i int) (end int, escaped bool) {
	end, escaped, msg := scanString(c.doc, i)
	if msg != "" {
		return c.fail(end, msg), false
	}
	return end, escaped
}

// manyKeys is the number of keys above which an object gets a hash table.
const manyKeys = 16

// keySet detects duplicate keys of one object. It compares keys directly, and uses a hash table for
// many keys, so that a hostile object takes only linear time.
type keySet struct {
	base  int // index of its first key in the stack of all open objects
	seed  maphash.Seed
	slots []uint32 // hash table with open addressing: index of a key plus one; nil: few keys
}

// duplicate reports whether the last key equals an earlier one. It must be called once for each
// key, in order.
func (o *keySet) duplicate(keys [][]byte) bool {
	last := len(keys) - 1
	if last < manyKeys {
		return slices.ContainsFunc(keys[:last], func(k []byte) bool { return bytes.Equal(k, keys[last]) })
	}
	if 2*len(keys) > len(o.slots) {
		o.grow(keys[:last])
	}
	return o.insert(keys, last)
}

// grow allocates the table or doubles its size.
func (o *keySet) grow(keys [][]byte) {
	if o.slots == nil {
		o.seed = maphash.MakeSeed() // a random seed prevents deliberate collisions
		o.slots = make([]uint32, 4*manyKeys)
	}
	o.slots = make([]uint32, 2*len(o.slots))
	for n := range keys {
		o.insert(keys, n)
	}
}

// insert adds keys[n] to the table and reports whether the table already has an equal key.
func (o *keySet) insert(keys [][]byte, n int) bool {
	mask := uint64(len(o.slots) - 1)
	for h := maphash.Bytes(o.seed, keys[n]); ; h++ {
		slot := &o.slots[h&mask]
		if *slot == 0 {
			*slot = uint32(n + 1)
			return false
		}
		if string(keys[*slot-1]) == string(keys[n]) {
			return true
		}
	}
}

// keyStack holds the decoded keys of all open objects, innermost last. A small number of keys needs
// no allocation.
type keyStack struct {
	n    int
	few  [24][]byte
	many [][]byte // nil: all keys are in few
}

func (s *keyStack) push(key []byte) {
	if s.many == nil && s.n < len(s.few) {
		s.few[s.n] = key
		s.n++
		return
	}
	if s.many == nil {
		s.many = append(make([][]byte, 0, 4*len(s.few)), s.few[:]...)
	}
	s.many = append(s.many[:s.n], key)
	s.n++
}

// from returns all keys except the first base ones.
func (s *keyStack) from(base int) [][]byte {
	if s.many == nil {
		return s.few[base:s.n]
	}
	return s.many[base:s.n]
}
