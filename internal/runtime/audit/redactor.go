package audit

import (
	"bytes"
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

// What records have of the arguments of calls.
const (
	Hash   = "hash"   // their SHA-256, and those of the values that nets read
	Masked = "masked" // also the arguments, but for what is masked
	Full   = "full"   // also the arguments and the values that nets read in results
)

// alwaysMasked are names of members that are masked whatever the configuration says.
var alwaysMasked = [...]string{"password", "passwd", "secret", "token", "access_token", "refresh_token", "api_key", "apikey", "authorization", "private_key", "client_secret"}

// Bounds of what one call puts on record.
const (
	maxArguments = 64 << 10 // bytes
	maxValues    = 100      // of one field
)

// A Redactor decides what of the arguments and results of calls goes on record. The zero
// value lets only hashes pass. It never changes.
type Redactor struct {
	arguments string
	names     []string   // folded
	paths     [][]string // of $.paths: their steps, folded; * is any
}

// NewRedactor returns a redactor: arguments is one of [Hash], [Masked] and [Full], empty for
// the first, and mask has names of members, at any depth, and paths that begin with "$.".
// Letter case does not matter.
func NewRedactor(arguments string, mask []string) (*Redactor, error) {
	r := &Redactor{arguments: arguments}
	switch arguments {
	case "", Hash, Masked, Full:
	default:
		return nil, fmt.Errorf("audit.arguments is hash, masked or full, not %q", arguments)
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

// inList are the steps of a path into a list: what is in a list is where the list is.
var inList = regexp.MustCompile(`\[(\d+|\*)\]`)

// steps splits a path: $.a[0].b is a, b.
func steps(path string) []string {
	path = inList.ReplaceAllString(strings.TrimPrefix(path, "$"), "")
	return strings.FieldsFunc(rawjson.Fold(path), func(c rune) bool { return strings.ContainsRune(`.[]'"`, c) })
}

// Mode is what it was made with.
func (r *Redactor) Mode() string {
	if r.arguments == "" {
		return Hash
	}
	return r.arguments
}

// Plain reports whether records may quote what nets read.
func (r *Redactor) Plain() bool { return r.arguments == Full && len(r.names)+len(r.paths) == 0 }

// Arguments returns what goes on record of the arguments, nil for nothing.
func (r *Redactor) Arguments(args []byte) json.RawMessage {
	if len(args) > maxArguments {
		return nil
	}
	return r.Mask(args)
}

// Mask returns JSON of any length with "***" where it is masked, or nil where only hashes
// pass.
func (r *Redactor) Mask(value []byte) json.RawMessage {
	switch {
	case r.Mode() == Hash || len(value) == 0:
		return nil
	case r.Plain():
		return value
	}
	var b bytes.Buffer
	r.mask(&b, value, nil, hidden)
	return b.Bytes()
}

// Shown returns a JSON value as people see it who decide about it, and how many values are
// masked in it. Each says its type and its size, as "*** (string, 24 bytes)".
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
	return bytes.Clone(b.Bytes()), masked // it may be kept: without the room to grow
}

// mask writes a value, and what hide returns in place of what is masked in it. at is where
// the value is.
func (r *Redactor) mask(b *bytes.Buffer, value []byte, at []string, hide func(value []byte) string) {
	if r.masked(at) {
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
			r.mask(b, v, append(at[:len(at):len(at)], rawjson.Fold(string(key))), hide)
			return true
		})
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		rawjson.Elements(value, func(v []byte, _ int) bool {
			separate(b, '[')
			r.mask(b, v, at, hide)
			return true
		})
		b.WriteByte(']')
	default:
		b.Write(bytes.TrimSpace(value))
	}
}

// separate writes a comma, but for the first member of what begins with open.
func separate(b *bytes.Buffer, open byte) {
	if all := b.Bytes(); all[len(all)-1] != open {
		b.WriteByte(',')
	}
}

// hidden stands for a value: it says which type it has, and nothing else of it.
func hidden(value []byte) string {
	switch rawjson.Kind(value) {
	case '"':
		return `"***"`
	case '{':
		return `"*** object"`
	case '[':
		return `"*** list"`
	case '0':
		return `"*** number"`
	case 'n':
		return `null`
	default:
		return `"*** boolean"`
	}
}

// described stands for a value: it says which type and size it has.
func described(value []byte) string {
	size := len(bytes.TrimSpace(value))
	switch rawjson.Kind(value) {
	case '"':
		s, _ := rawjson.String(value)
		return fmt.Sprintf(`"*** (string, %s)"`, text.Count(len(s), "byte"))
	case '{':
		return fmt.Sprintf(`"*** (object, %s)"`, text.Count(size, "byte"))
	case '[':
		return fmt.Sprintf(`"*** (list, %s)"`, text.Count(size, "byte"))
	case '0':
		return fmt.Sprintf(`"*** (number, %s)"`, text.Count(size, "character"))
	default:
		return `"*** (boolean)"`
	}
}

// masked reports whether what is there is masked. Elements of lists are where their list is.
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

// Values returns what goes on record of what nets read in arguments.
func (r *Redactor) Values(read []reading.Value) []Value {
	return r.values(read, false)
}

// Results is [Redactor.Values] of a result.
func (r *Redactor) Results(read []reading.Value) []Value {
	return r.values(read, r.Plain())
}

func (r *Redactor) values(read []reading.Value, plain bool) (all []Value) {
	for i := range read {
		v := Value{Field: Bounded(read[i].Field), Amount: json.Number(read[i].Amount)}
		if v.Amount != "" && r.masks(read[i].Field) {
			v.Amount, v.Lacks = "", "masked"
		}
		texts := read[i].Texts
		if len(texts) > maxValues {
			texts, v.Lacks = texts[:maxValues], "too many"
		}
		for _, lit := range texts {
			v.Hashes = append(v.Hashes, HashOf(lit))
			if plain {
				v.Values = append(v.Values, json.RawMessage(lit))
			}
		}
		all = append(all, v)
	}
	return all
}

// masks reports whether a field, as it is written in a rule, is masked.
func (r *Redactor) masks(field string) bool {
	at := steps(field)
	for i := range at {
		if r.masked(at[:i+1]) || slices.Contains(r.names, at[i]) {
			return true
		}
	}
	return false
}

// HashOf is the SHA-256 of a text in hexadecimal digits.
func HashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
