package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// Ways to record arguments.
const (
	Hash   = "hash"   // record only hashes of the arguments and of the values that nets read
	Masked = "masked" // also record the arguments, with parts of them masked
	Full   = "full"   // also record the complete arguments, and the values that nets read in results
)

// alwaysMasked lists the names of members that are always masked in mode Masked.
var alwaysMasked = [...]string{"password", "passwd", "secret", "token", "access_token", "refresh_token", "api_key", "apikey", "authorization", "private_key", "client_secret"}

// Limits on the recorded parts of a call.
const (
	maxArguments = 64 << 10 // maximum size of recorded arguments, in bytes
	maxValues    = 100      // maximum number of recorded values per field
)

// A Redactor determines which parts of arguments and results are recorded. The zero value records
// only hashes. A Redactor is immutable and safe for concurrent use.
type Redactor struct {
	arguments string
	names     []string   // names of masked members, case-folded
	paths     [][]string // paths of masked values, split into case-folded steps; the step * matches any member
}

// NewRedactor returns a redactor that records arguments as [Hash], [Masked] or [Full]; "" means
// Hash. The elements of mask are names of members to mask at any depth, and paths starting with
// "$.". Case is ignored.
func NewRedactor(arguments string, mask []string) (*Redactor, error) {
	r := &Redactor{arguments: arguments}
	switch arguments {
	case "", Hash, Masked, Full:
	default:
		return nil, fmt.Errorf("audit.arguments must be hash, masked or full, not %q", arguments)
	}
	if arguments == Masked {
		r.names = append(r.names, alwaysMasked[:]...)
	}
	for _, m := range mask {
		if strings.HasPrefix(m, "$") {
			r.paths = append(r.paths, steps(m))
		} else {
			r.names = append(r.names, rawjson.Fold(m))
		}
	}
	return r, nil
}

// inList matches list indexes in paths. A list element has the same path as the list.
var inList = regexp.MustCompile(`\[(\d+|\*)\]`)

// steps splits a path into its steps: $.a[0].b becomes a, b.
func steps(path string) []string {
	path = inList.ReplaceAllString(strings.TrimPrefix(path, "$"), "")
	return strings.FieldsFunc(rawjson.Fold(path), func(c rune) bool { return strings.ContainsRune(`.[]'"`, c) })
}

// Mode returns how arguments are recorded: [Hash], [Masked] or [Full].
func (r *Redactor) Mode() string {
	return cmp.Or(r.arguments, Hash)
}

// Plain reports whether records may contain unhashed values that nets read.
func (r *Redactor) Plain() bool { return r.arguments == Full && len(r.names)+len(r.paths) == 0 }

// Arguments returns the arguments to record for a call, or nil if they are not recorded.
func (r *Redactor) Arguments(args []byte) json.RawMessage {
	if len(args) > maxArguments {
		return nil
	}
	return r.Mask(args)
}

// Mask masks the sensitive parts of a JSON value and returns the result. A masked string becomes
// "***". Any other masked value except null becomes "***" followed by the name of its type, such as
// "*** number". Unlike [Redactor.Arguments], Mask has no size limit. It returns nil in mode Hash.
func (r *Redactor) Mask(value []byte) json.RawMessage {
	switch {
	case len(value) == 0 || r.arguments != Masked && r.arguments != Full:
		return nil
	case r.Plain():
		return value
	}
	var b bytes.Buffer
	r.mask(&b, value, nil, hidden)
	return b.Bytes()
}

// Shown returns a JSON value as shown to approvers, and the number of masked values in it. A masked
// value is replaced by its type and size: "*** (string, 24 bytes)".
func (r *Redactor) Shown(value []byte) (shown []byte, masked int) {
	if len(value) == 0 || r.Plain() {
		return value, 0
	}
	var b bytes.Buffer
	r.mask(&b, value, nil, func(value []byte) string {
		if rawjson.Kind(value) == 'n' {
			return `null`
		}
		masked++
		return described(value)
	})
	if masked == 0 {
		return value, 0
	}
	return bytes.Clone(b.Bytes()), masked // a copy without spare capacity, because the caller may retain it
}

// mask writes the JSON value at the given path to b. For each masked part, it writes the result of
// calling hide instead.
func (r *Redactor) mask(b *bytes.Buffer, value []byte, path []string, hide func(value []byte) string) {
	if r.masked(path) {
		b.WriteString(hide(value))
		return
	}
	switch rawjson.Kind(value) {
	case '{':
		b.WriteByte('{')
		rawjson.Members(value, func(key, v []byte, _ int) bool {
			separate(b, '{')
			b.Write(rawjson.AppendString(nil, string(key)))
			b.WriteByte(':')
			r.mask(b, v, append(path[:len(path):len(path)], rawjson.Fold(string(key))), hide)
			return true
		})
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		rawjson.Elements(value, func(v []byte, _ int) bool {
			separate(b, '[')
			r.mask(b, v, path, hide)
			return true
		})
		b.WriteByte(']')
	default:
		b.Write(bytes.TrimSpace(value))
	}
}

// separate writes a comma to b, except after the opening delimiter.
func separate(b *bytes.Buffer, open byte) {
	if all := b.Bytes(); all[len(all)-1] != open {
		b.WriteByte(',')
	}
}

// hidden returns the replacement for a masked value. The replacement reveals only the value's type.
func hidden(value []byte) string {
	switch kind := rawjson.Kind(value); kind {
	case '"':
		return `"***"`
	case 'n':
		return `null`
	default:
		return `"*** ` + typeNames[kind] + `"`
	}
}

// typeNames maps kinds, as returned by [rawjson.Kind], to names of JSON types.
var typeNames = map[byte]string{'"': "string", '{': "object", '[': "list", '0': "number", 't': "boolean", 'f': "boolean"}

// described returns the replacement for a masked value. The replacement reveals the value's type
// and, unless the value is a boolean, its size.
func described(value []byte) string {
	kind, size, unit := rawjson.Kind(value), len(bytes.TrimSpace(value)), "byte"
	switch kind {
	case '"':
		s, _ := rawjson.String(value)
		size = len(s)
	case '0':
		unit = "character"
	case 't', 'f':
		return `"*** (boolean)"`
	}
	return fmt.Sprintf(`"*** (%s, %s)"`, typeNames[kind], text.Count(size, unit))
}

// masked reports whether the value at the given path is masked. A list element has the same path as
// the list.
func (r *Redactor) masked(at []string) bool {
	if len(at) == 0 {
		return false
	}
	if slices.Contains(r.names, at[len(at)-1]) {
		return true
	}
	return slices.ContainsFunc(r.paths, func(p []string) bool {
		return slices.EqualFunc(p, at, func(want, is string) bool { return want == is || want == "*" })
	})
}

// Values returns the recorded form of the values that nets read from a call's arguments.
func (r *Redactor) Values(read []reading.Value) (all []Value) {
	for i := range read {
		v := Value{Field: Bounded(read[i].Field), Amount: json.Number(read[i].Amount)}
		if v.Amount != "" && r.masksField(read[i].Field) {
			v.Amount, v.Lacks = "", "masked"
		}
		texts := read[i].Texts
		if len(texts) > maxValues {
			texts, v.Lacks = texts[:maxValues], "too many"
		}
		for _, lit := range texts {
			v.Hashes = append(v.Hashes, HashOf(lit))
		}
		all = append(all, v)
	}
	return all
}

// Results returns the recorded form of the values that nets read from a call's result. If
// [Redactor.Plain] is true, the values are also included unhashed.
func (r *Redactor) Results(read []reading.Value) []Value {
	all := r.Values(read)
	for i := range all {
		if r.Plain() {
			for _, lit := range read[i].Texts[:len(all[i].Hashes)] {
				all[i].Values = append(all[i].Values, json.RawMessage(lit))
			}
		}
	}
	return all
}

// masksField reports whether the value of a field is masked. The field is written as in rules.
func (r *Redactor) masksField(field string) bool {
	at := steps(field)
	for i := range at {
		if r.masked(at[:i+1]) || slices.Contains(r.names, at[i]) {
			return true
		}
	}
	return false
}

// HashOf returns the SHA-256 of s in hexadecimal.
func HashOf[T string | []byte](s T) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
