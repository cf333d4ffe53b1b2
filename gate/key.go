package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/trie"
	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Bounds of what a key reads of one call.
const (
	maxValues  = 1000    // of the key
	maxResult  = 1 << 20 // bytes of a result; a longer one counts as absent
	maxNesting = 1000    // of a result
	maxKeyText = 200     // bytes of a text that stands for itself
)

// value is one value of a key in a call.
type value struct {
	text  string     // as [NetDelta.Key]
	hash  uint64     // of the text, see [trie.Hash]
	named []KeyValue // by field
	shown string     // as [shownKey]; empty: not known yet
	keys  uint64     // the keys of the net that have it, if they differ; 0: those of the plan
}

// keyReader reads a key.
type keyReader struct {
	fields  []int // of the policy
	result  bool  // one of them reads the result
	mixed   bool  // one of them does not
	written []Field
}

// fieldReader reads a field.
type fieldReader struct {
	Field
	path jsonpath.Path
}

// same reports whether two fields always have the same value.
func (f *fieldReader) same(g *Field) bool {
	return f.Path == g.Path && f.Reader == g.Reader && f.Number == g.Number && f.Result == g.Result
}

// readKeys numbers the fields and the keys of the nets.
func (p *Policy) readKeys() {
	p.keyed = make(netSet, (len(p.nets)+63)/64)
	for _, n := range p.nets {
		for i := range n.Transitions {
			n.keyOf = append(n.keyOf, -1)
			if key := n.KeyOf(&n.Transitions[i]); len(key) > 0 {
				p.readKey(n, i, p.keyNumber(key))
			}
		}
		if len(n.keys) > 0 {
			p.keyed.add([]int{n.index})
			n.written = n.readers[0]
			if len(n.Key) > 0 {
				n.written.written = n.Key
			}
		}
		p.results = p.results || len(n.results) > 0 || n.OnSuccess != nil
	}
}

// readKey gives a transition the key of that number.
func (p *Policy) readKey(n *net, transition, number int) {
	k := p.keys[number]
	local := slices.Index(n.keys, number)
	if local < 0 {
		local = len(n.keys)
		n.keys, n.readers = append(n.keys, number), append(n.readers, k)
	}
	n.keyOf[transition] = local
	if k.result {
		n.results = append(n.results, transition)
		n.mixed = n.mixed || k.mixed
	}
}

// ReadsResults reports whether the results of calls matter to the policy: as values of
// a key, or to a hook. Where they do not, [End.Result] has no effect.
func (p *Policy) ReadsResults() bool { return p.results }

// keyNumber returns the number of the key, which it collects.
func (p *Policy) keyNumber(key []Field) int {
	k := keyReader{written: key}
	for i := range key {
		k.fields = append(k.fields, p.fieldNumber(key[i]))
		k.result = k.result || key[i].Result
		k.mixed = k.mixed || !key[i].Result
	}
	if i := slices.IndexFunc(p.keys, func(o keyReader) bool { return slices.Equal(o.fields, k.fields) }); i >= 0 {
		return i
	}
	p.keys = append(p.keys, k)
	return len(p.keys) - 1
}

func (p *Policy) fieldNumber(f Field) int {
	if i := slices.IndexFunc(p.fields, func(o fieldReader) bool { return o.same(&f) }); i >= 0 {
		return i
	}
	r := fieldReader{Field: f, path: jsonpath.Key(f.Path)}
	if jsonpath.IsPath(f.Path) {
		r.path, _ = jsonpath.Parse(f.Path)
	}
	p.fields = append(p.fields, r)
	return len(p.fields) - 1
}

// carrier reads the values that one call carries, each field and each key once.
type carrier struct {
	policy *Policy
	call   *Call
	result []byte // nil: the call has none
	fields []fieldReading
	keys   []keyReading

	// Space for the usual case: one key of one field with one value.
	fieldRoom [1]fieldReading
	keyRoom   [1]keyReading
	valueRoom [1]value
}

type fieldReading struct {
	number int
	all    []string
	fault  jsonpath.Fault
}

// keyReading has the values of a key in a call, or says why there are none.
type keyReading struct {
	number int
	values []value
	field  int // of the key, that has the fault
	fault  jsonpath.Fault
}

// key returns the values of the key of that number.
func (c *carrier) key(number int) *keyReading {
	for i := range c.keys {
		if c.keys[i].number == number {
			return &c.keys[i]
		}
	}
	if c.keys == nil {
		c.keys = c.keyRoom[:0]
	}
	r := keyReading{number: number}
	if len(c.keys) == 0 {
		r.values = c.valueRoom[:0]
	}
	columns := make([][]string, 0, 2)
	k := &c.policy.keys[number]
	for i, field := range k.fields {
		f := c.field(field)
		if f.fault != jsonpath.None {
			r.field, r.fault = i, f.fault
			break
		}
		columns = append(columns, f.all)
	}
	if r.fault == jsonpath.None {
		r.combine(k, columns)
	}
	c.keys = append(c.keys, r)
	return &c.keys[len(c.keys)-1]
}

// combine makes the values of a key from those of its fields.
func (r *keyReading) combine(k *keyReader, columns [][]string) {
	count := 1
	for i, column := range columns {
		if count *= len(column); count > maxValues {
			r.field, r.fault = i, jsonpath.Excess
			return
		}
	}
	if count > cap(r.values) {
		r.values = make([]value, 0, count)
	}
	all := make([]KeyValue, 0, count*len(columns))
	for i := range count {
		all = k.combination(all, columns, i, count)
		named := all[i*len(columns) : len(all) : len(all)]
		text := textOf(named)
		r.values = append(r.values, value{text: text, hash: trie.Hash(text), named: named})
	}
}

// combination appends one combination of as many as there are; the last column changes fastest.
func (k *keyReader) combination(parts []KeyValue, columns [][]string, number, of int) []KeyValue {
	for i, column := range columns {
		of /= len(column)
		parts = append(parts, KeyValue{Field: k.written[i].Name(), Value: column[number/of%len(column)]})
	}
	return parts
}

// textOf returns the text of a value: its parts or, of a long one, its hash with how it
// begins. None has an empty one.
func textOf(parts []KeyValue) string {
	if len(parts) == 0 {
		return ""
	}
	text := parts[0].Value
	for i := 1; i < len(parts); i++ {
		text += "," + parts[i].Value
	}
	if len(text) <= maxKeyText {
		return text
	}
	const shown = 60
	sum := sha256.Sum256([]byte(text))
	return "#" + hex.EncodeToString(sum[:]) + strings.ToValidUTF8(text[:shown], "")
}

// field returns the values of the field of that number.
func (c *carrier) field(number int) *fieldReading {
	for i := range c.fields {
		if c.fields[i].number == number {
			return &c.fields[i]
		}
	}
	r := fieldReading{number: number}
	switch f := &c.policy.fields[number]; {
	case f.Reader != nil:
		r.all, r.fault = jsonpath.Scalars(f.evaluate(c.call), maxValues)
	case !f.Result:
		r.all, r.fault = f.path.Scalars(arguments(c.call), maxValues)
	case c.result == nil:
		r.fault = jsonpath.Absent
	default:
		r.all, r.fault = f.path.Scalars(c.result, maxValues)
	}
	if c.fields == nil {
		c.fields = c.fieldRoom[:0]
	}
	c.fields = append(c.fields, r)
	return &c.fields[len(c.fields)-1]
}

// arguments returns the arguments as an object.
func arguments(c *Call) []byte {
	if len(c.Args) == 0 {
		return []byte("{}")
	}
	return c.Args
}

// evaluate returns the value of an expression, or null.
func (f *fieldReader) evaluate(c *Call) (v []byte) {
	defer func() {
		if recover() != nil {
			v = []byte("null")
		}
	}()
	if v, ok := f.Reader.Value(c, f.Number); ok {
		return v
	}
	return []byte("null")
}

// named returns the parts of a value with the fields of the key.
func (k *keyReader) named(parts []string) []KeyValue {
	all := make([]KeyValue, len(parts))
	for i := range parts {
		all[i] = KeyValue{Field: k.written[i].Name(), Value: parts[i]}
	}
	return all
}

// read returns the parts of a value by its text, under the names of the fields. Of a
// long one it is how it begins.
func (k *keyReader) read(text string) []KeyValue {
	if text[0] == '#' {
		begin := strings.TrimPrefix(text[1+2*sha256.Size:], `"`)
		return []KeyValue{{Field: k.names(), Value: string(rawjson.AppendString(nil, begin+"…"))}}
	}
	var parts []string
	rawjson.Elements([]byte("["+text+"]"), func(v []byte, _ int) bool {
		parts = append(parts, string(v))
		return true
	})
	return k.named(parts)
}

// names returns the names of the fields.
func (k *keyReader) names() string {
	all := make([]string, len(k.written))
	for i := range all {
		all[i] = k.written[i].Name()
	}
	return strings.Join(all, ", ")
}

// shownKey returns a value for a reader of text: bare where it is plain, and otherwise
// as JSON, shortened.
func shownKey(parts []KeyValue) string {
	if len(parts) == 1 {
		return shownPart(parts[0].Value)
	}
	shown := make([]string, len(parts))
	for i := range parts {
		shown[i] = shownPart(parts[i].Value)
	}
	return strings.Join(shown, ", ")
}

func shownPart(part string) string {
	const longest = 64 // characters
	if part[0] != '"' {
		return part
	}
	if bare := part[1 : len(part)-1]; len(bare) <= longest && isPlain(bare) { // so it has no escapes
		return bare
	}
	s, _ := rawjson.String([]byte(part))
	if runes := []rune(s); len(runes) > longest {
		return string(rawjson.AppendString(nil, string(runes[:longest])+"…"))
	}
	return part
}

// isPlain reports whether a string needs no quotes in a sentence: it begins with a
// letter or one of /._~@#+ and has only those, digits, hyphens and colons, and it is no
// other JSON value.
func isPlain(s string) bool {
	if s == "" || s == "true" || s == "false" || s == "null" {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("/._~@#+", c) >= 0
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == ':')) {
			return false
		}
	}
	last := s[len(s)-1]
	return last != '.' && last != ':'
}
