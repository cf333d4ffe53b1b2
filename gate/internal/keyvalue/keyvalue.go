// Package keyvalue reads key values, that is, the values of a key's fields in a call or its result.
// It represents a key value as a canonical string, which is the same for equal values, and formats
// it for display. It has no state.
package keyvalue

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/argument"
	"github.com/petrigate/petrigate/gate/internal/trie"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// Limits on the data that a key reads from a call.
const (
	maxValues  = 1000    // maximum number of key values
	maxKeyText = 200     // maximum length of a canonical string in bytes; a longer string is replaced by its hash and its beginning
	maxResult  = 1 << 20 // maximum size of a result in bytes
	maxNesting = 1000
)

// Readable reports whether key values can be read from a result. A result that cannot be read
// counts as unknown.
func Readable(result []byte) bool {
	return len(result) <= maxResult && rawjson.Check(result, maxNesting) == nil
}

// A Value is a key value in a call.
type Value struct {
	Text  string             // canonical string of the value; see [Text]
	Hash  uint64             // hash of Text; see [trie.Hash]
	Named []toolnet.KeyValue // value of each field
	Keys  uint64             // bit set of the net's keys that produce this value; see [Union]
}

// A Key is a list of fields, prepared for reading.
type Key struct {
	Result  bool // whether any field reads the result
	Mixed   bool // whether any field reads the call rather than its result
	Written []toolnet.Field
	fields  []int // indexes of the key's fields in the [Set]
}

// A Set collects keys and their fields without duplicates. The zero value is ready to use.
type Set struct {
	keys   []Key
	fields []fieldReader
}

// Len returns the number of keys.
func (s *Set) Len() int { return len(s.keys) }

// At returns the key with the given index.
func (s *Set) At(number int) *Key { return &s.keys[number] }

// fieldReader is a field together with its parsed path.
type fieldReader struct {
	toolnet.Field
	path jsonpath.Path
}

// same reports whether f and g read the same value from every call.
func (f *fieldReader) same(g *toolnet.Field) bool {
	return f.Path == g.Path && f.Reader == g.Reader && f.Number == g.Number && f.Result == g.Result
}

// Number returns the key's index in the set, adding the key if necessary.
func (s *Set) Number(key []toolnet.Field) int {
	k := Key{Written: key}
	for i := range key {
		k.fields = append(k.fields, s.fieldNumber(key[i]))
		k.Result = k.Result || key[i].Result
		k.Mixed = k.Mixed || !key[i].Result
	}
	if i := slices.IndexFunc(s.keys, func(o Key) bool { return slices.Equal(o.fields, k.fields) }); i >= 0 {
		return i
	}
	s.keys = append(s.keys, k)
	return len(s.keys) - 1
}

func (s *Set) fieldNumber(f toolnet.Field) int {
	if i := slices.IndexFunc(s.fields, func(o fieldReader) bool { return o.same(&f) }); i >= 0 {
		return i
	}
	r := fieldReader{Field: f, path: jsonpath.Key(f.Path)}
	if jsonpath.IsPath(f.Path) {
		r.path, _ = jsonpath.Parse(f.Path)
	}
	s.fields = append(s.fields, r)
	return len(s.fields) - 1
}

// A CallReader reads the key values of a call. It reads each field and each key only once.
type CallReader struct {
	Set    *Set
	Call   *toolnet.Call
	Result []byte // nil if the call has no result
	fields []fieldReading
	keys   []Reading

	// Preallocated space for the usual case: one key with one field and one value.
	fieldRoom [1]fieldReading
	keyRoom   [1]Reading
	valueRoom [1]Value
}

type fieldReading struct {
	number int
	all    []string
	fault  jsonpath.Fault
}

// A Reading holds either a key's values in a call or the reason why the call has no values for the
// key.
type Reading struct {
	Values []Value
	Field  int // index of the faulty field in the key, if Fault is set
	Fault  jsonpath.Fault
	number int
}

// Explain returns a sentence that explains why a call has no value for the key k. The sentence
// refers to the call by the given name.
func (r *Reading) Explain(k *Key, name string) string {
	why := map[jsonpath.Fault]string{
		jsonpath.Absent:    "the call has no such value",
		jsonpath.Unfit:     "it must be a string, a number, true or false, or a list of those",
		jsonpath.NoElement: "the list is empty",
		jsonpath.Doubtful:  "another key of the call differs from it only in letter case",
		jsonpath.Excess:    fmt.Sprintf("the call has more than %d", maxValues),
	}[r.Fault]
	f := &k.Written[r.Field]
	if f.Reader != nil && r.Fault == jsonpath.Unfit {
		why = "the expression has no value for this call"
	}
	return name + " needs a value in `" + f.Name() + "`: " + why + "."
}

// ReadResult reads all fields of the result and caches their values. c.Call need not be set yet.
func (c *CallReader) ReadResult() {
	for number := range c.Set.fields {
		if c.Set.fields[number].Result {
			c.field(number)
		}
	}
}

// Key returns the call's values for the key with the given index in the set.
func (c *CallReader) Key(number int) *Reading {
	for i := range c.keys {
		if c.keys[i].number == number {
			return &c.keys[i]
		}
	}
	if c.keys == nil {
		c.keys = c.keyRoom[:0]
	}
	r := Reading{number: number}
	if len(c.keys) == 0 {
		r.Values = c.valueRoom[:0]
	}
	columns := make([][]string, 0, 2)
	k := &c.Set.keys[number]
	for i, field := range k.fields {
		f := c.field(field)
		if f.fault != jsonpath.None {
			r.Field, r.Fault = i, f.fault
			break
		}
		columns = append(columns, f.all)
	}
	if r.Fault == jsonpath.None {
		r.combine(k, columns)
	}
	c.keys = append(c.keys, r)
	return &c.keys[len(c.keys)-1]
}

// combine computes the key's values as the Cartesian product of its fields' values.
func (r *Reading) combine(k *Key, columns [][]string) {
	count := 1
	for i, column := range columns {
		if count *= len(column); count > maxValues {
			r.Field, r.Fault = i, jsonpath.Excess
			return
		}
	}
	if count > cap(r.Values) {
		r.Values = make([]Value, 0, count)
	}
	all := make([]toolnet.KeyValue, 0, count*len(columns))
	for i := range count {
		all = k.combination(all, columns, i, count)
		named := all[i*len(columns) : len(all) : len(all)]
		text := Text(named)
		r.Values = append(r.Values, Value{Text: text, Hash: trie.Hash(text), Named: named})
	}
}

// combination appends one value of each field to parts, together with the field's name. columns
// contains the possible values of each field. number selects the combination and ranges from 0 to
// total-1. The value of the last field changes fastest.
func (k *Key) combination(parts []toolnet.KeyValue, columns [][]string, number, total int) []toolnet.KeyValue {
	for i, column := range columns {
		total /= len(column)
		parts = append(parts, toolnet.KeyValue{Field: k.Written[i].Name(), Value: column[number/total%len(column)]})
	}
	return parts
}

// Text returns the canonical string of a value: its parts or, if they are too long, their hash
// followed by the beginning of the parts. For a value without parts, the string is empty.
func Text(parts []toolnet.KeyValue) string {
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

// field returns the call's values for the field with the given index in the set.
func (c *CallReader) field(number int) *fieldReading {
	for i := range c.fields {
		if c.fields[i].number == number {
			return &c.fields[i]
		}
	}
	r := fieldReading{number: number}
	switch f := &c.Set.fields[number]; {
	case f.Reader != nil:
		r.fault = jsonpath.Unfit
		if value, ok := argument.Evaluate(&f.Field, c.Call); ok {
			r.all, r.fault = jsonpath.Scalars(value, maxValues)
		}
	case !f.Result && len(c.Call.Args) == 0:
		r.all, r.fault = f.path.Scalars([]byte("{}"), maxValues)
	case !f.Result:
		r.all, r.fault = f.path.Scalars(c.Call.Args, maxValues)
	case c.Result == nil:
		r.fault = jsonpath.Absent
	default:
		r.all, r.fault = f.path.Readable(c.Result, maxValues) // skips array elements without a value, and values beyond the limit
	}
	if c.fields == nil {
		c.fields = c.fieldRoom[:0]
	}
	c.fields = append(c.fields, r)
	return &c.fields[len(c.fields)-1]
}

// ParseText is the inverse of [Text]: it returns the parts of a value, with the names of their
// fields. For a long value, it returns only the beginning.
func (k *Key) ParseText(text string) (parts []toolnet.KeyValue) {
	if text[0] == '#' {
		begin := strings.TrimPrefix(text[1+2*sha256.Size:], `"`)
		return []toolnet.KeyValue{{Field: k.Names(), Value: string(rawjson.AppendString(nil, begin+"…"))}}
	}
	rawjson.Elements([]byte("["+text+"]"), func(v []byte, _ int) bool {
		parts = append(parts, toolnet.KeyValue{Field: k.Written[len(parts)].Name(), Value: string(v)})
		return true
	})
	return parts
}

// Names returns the names of the key's fields.
func (k *Key) Names() string {
	return strings.Join(list.Map(k.Written, func(f toolnet.Field) string { return f.Name() }), ", ")
}

// Format formats a value for display. A plain value is shown without quotes. Any other value is
// shown as JSON, shortened and with escapes for invisible characters.
func Format(parts []toolnet.KeyValue) string {
	shown := make([]string, len(parts)) // unlike [list.Map], this allocates nothing for a few parts
	for i := range parts {
		shown[i] = formatPart(parts[i].Value)
	}
	return strings.Join(shown, ", ")
}

func formatPart(part string) string {
	const longest = 64 // maximum number of characters to show
	if part[0] != '"' {
		return part
	}
	if bare := part[1 : len(part)-1]; len(bare) <= longest && isPlain(bare) { // isPlain rejects backslashes, so bare needs no unescaping
		return bare
	}
	s, _ := rawjson.String([]byte(part))
	if runes := []rune(s); len(runes) > longest {
		part = string(rawjson.AppendString(nil, string(runes[:longest])+"…"))
	}
	return string(text.EscapeJSON([]byte(part)))
}

// isPlain reports whether the string s can be shown without quotes. A plain string starts with a
// letter or one of the characters /._~@#+. It contains only letters, these characters, digits,
// hyphens and colons. It does not end with a dot or a colon, and it is not true, false or null.
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

// A Union holds a call's values for several keys of a net. Each key is represented by a bit.
type Union struct {
	Values []Value
	Keys   uint64 // bit set of the keys added so far; a [Value] that belongs to all of them can have Keys 0 as a shorthand
}

// Add adds the values that the call has for the given key.
func (u *Union) Add(values []Value, key uint64) {
	switch {
	case u.Keys&key != 0:
		return
	case u.Values == nil:
		u.Values, u.Keys = values, key // shared with other nets; cloned before the first change
		return
	case u.Values[0].Keys == 0:
		u.Values = slices.Clone(u.Values)
		for i := range u.Values {
			u.Values[i].Keys = u.Keys
		}
	}
	u.Keys |= key
	at := make(map[string]int, len(u.Values))
	for i := range u.Values {
		at[u.Values[i].Text] = i
	}
	for _, v := range values {
		if i, ok := at[v.Text]; ok {
			if old := &u.Values[i]; key < old.Keys&-old.Keys {
				old.Named = v.Named // use the field names of the first key that has the value
			}
			u.Values[i].Keys |= key
			continue
		}
		v.Keys = key
		u.Values = append(u.Values, v)
	}
}

// KeysOf returns the bit set of the keys that have the value v in the call.
func (u *Union) KeysOf(v *Value) uint64 {
	if v.Keys != 0 {
		return v.Keys
	}
	return u.Keys
}
