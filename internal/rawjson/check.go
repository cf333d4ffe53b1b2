package rawjson

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
)

// MaxDepth is the maximum nesting depth of objects and arrays. Callers can only set lower limits.
const MaxDepth = 1024

// A SyntaxError describes why a document was rejected.
type SyntaxError struct {
	Offset int // offset of the first invalid byte, or the length of the document if it ends too early
	Msg    string
}

func (e *SyntaxError) Error() string {
	return "offset " + strconv.Itoa(e.Offset) + ": " + e.Msg
}

// Check returns nil if doc is exactly one JSON value, possibly surrounded by white space, that all
// JSON parsers read in the same way. A top-level object or array has depth 1; a depth above
// maxDepth or [MaxDepth] is an error. Any error is a [*SyntaxError]. Check takes time linear in the
// length of doc.
func Check(doc []byte, maxDepth int) error {
	c := checker{doc: doc, max: min(maxDepth, MaxDepth)}
	if len(doc) >= 3 && string(doc[:3]) == "\xef\xbb\xbf" {
		c.fail(0, "byte order mark")
	} else if i := c.value(skipSpace(doc, 0), 0); i >= 0 {
		if i = skipSpace(doc, i); i == len(doc) {
			return nil
		}
		c.unexpected(i, "the end of the document")
	}
	return &SyntaxError{Offset: c.at, Msg: c.msg}
}

// A checker checks a document. Its methods value, container, key and str take the offset of an
// element and return the offset after it. If the element is invalid, they record the error using
// fail and return -1.
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

// unexpected reports a syntax error at offset i. The argument want describes the expected syntax
// element.
func (c *checker) unexpected(i int, want string) int {
	if i >= len(c.doc) {
		return c.fail(len(c.doc), "unexpected end, want "+want)
	}
	return c.fail(i, "unexpected "+strconv.QuoteToASCII(string(c.doc[i:i+1]))+", want "+want)
}

// value checks the value at offset i. The parameter depth is the number of objects and arrays that
// enclose the value.
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

// container checks the object or array at offset i. Its closing bracket must be end.
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

// key checks the object key at offset i and the colon after it, and returns the offset of the
// value. It adds the key to the object's set of keys; a duplicate key is an error.
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
	if o.duplicate(c.keys.tail(o.base)) {
		return c.fail(i, "duplicate key")
	}
	i = skipSpace(c.doc, end)
	if peek(c.doc, i) != ':' {
		return c.unexpected(i, "':'")
	}
	return skipSpace(c.doc, i+1)
}

// str checks the string literal at offset i. It also reports whether the literal contains escapes.
func (c *checker) str(i int) (end int, escaped bool) {
	end, escaped, msg := scanString(c.doc, i)
	if msg != "" {
		return c.fail(end, msg), false
	}
	return end, escaped
}

// fewKeys is the maximum number of keys in an object that are compared without a hash table.
const fewKeys = 16

// A keySet detects duplicate keys in an object. It compares the keys directly while they are few,
// and then uses a hash table, so that even a malicious object takes only linear time.
type keySet struct {
	base  int // index of the object's first key in the [keyStack]
	seed  maphash.Seed
	slots []uint32 // hash table with open addressing, containing key indexes plus one; nil if there are few keys
}

// duplicate reports whether the last key pushed equals an earlier one. It must be called once for
// each key, in order.
func (o *keySet) duplicate(keys [][]byte) bool {
	last := len(keys) - 1
	if last < fewKeys {
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
		o.slots = make([]uint32, 4*fewKeys)
	}
	o.slots = make([]uint32, 2*len(o.slots))
	for n := range keys {
		o.insert(keys, n)
	}
}

// insert adds the key with index n to the hash table. If the table contains an equal key, insert
// returns true and adds nothing.
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

// A keyStack contains the decoded keys of all open objects, with those of the innermost object
// last. It does not allocate memory for a small number of keys.
type keyStack struct {
	n    int
	few  [24][]byte
	many [][]byte // all keys, once there were too many for few; otherwise nil
}

func (s *keyStack) push(key []byte) {
	switch {
	case s.many != nil:
		s.many = append(s.many[:s.n], key)
	case s.n < len(s.few):
		s.few[s.n] = key
	default:
		s.many = append(append(make([][]byte, 0, 4*len(s.few)), s.few[:]...), key)
	}
	s.n++
}

// tail returns the keys from the given index to the top of the stack.
func (s *keyStack) tail(base int) [][]byte {
	if s.many == nil {
		return s.few[base:s.n]
	}
	return s.many[base:s.n]
}
