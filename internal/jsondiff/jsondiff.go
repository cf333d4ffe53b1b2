// Package jsondiff compares two JSON values.
package jsondiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// maxShown is the maximum length in bytes of a value or path in a message. Longer ones are
// truncated, and their length is appended.
const maxShown = 200

// A Change is a difference at one path.
type Change struct {
	Path string          // path of the difference, starting with $
	Was  json.RawMessage `json:",omitempty"` // value before the change; nil if the value was added
	Is   json.RawMessage `json:",omitempty"` // value after the change; nil if the value was removed
}

// String describes the change on one line.
func (c Change) String() string {
	switch {
	case c.Was == nil:
		return "added " + line(c.Is)
	case c.Is == nil:
		return "removed " + line(c.Was)
	case bytes.Equal(c.Was, c.Is): // both values are masked
		return line(c.Was) + " -> another value"
	}
	return line(c.Was) + " -> " + line(c.Is)
}

// line formats a JSON value on one line.
func line(value []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		b.Write(value)
	}
	return Brief(b.String())
}

// Brief returns s in printable form. If s is too long, Brief truncates it and appends its length.
func Brief(s string) string {
	if len(s) <= maxShown {
		return text.Escape(s)
	}
	return text.Excerpt(s, maxShown) + fmt.Sprintf(" (%d bytes)", len(s))
}

// Compare compares two JSON values. It returns the first changes, up to the given limit, and the
// number of further changes. The mask function hides secrets in a value and returns how many it has
// hidden; it may be nil. If a secret has changed, Compare reports the change with both values
// masked.
func Compare(was, is []byte, limit int, mask func([]byte) ([]byte, int)) (changes []Change, more int) {
	if mask == nil {
		mask = func(v []byte) ([]byte, int) { return v, 0 }
	}
	d := &comparer{mask: mask, limit: limit}
	d.value("$", nil, was, is)
	return d.changes, d.more
}

// A comparer walks two JSON values in parallel.
type comparer struct {
	mask    func([]byte) ([]byte, int)
	limit   int
	changes []Change
	more    int
}

// value compares the old and the new value at the same path. keys contains the object keys on that
// path.
func (d *comparer) value(path string, keys []string, was, is []byte) {
	kind := rawjson.Kind(is)
	switch {
	case kind != rawjson.Kind(was):
		d.add(path, keys, was, is)
	case (kind == '{' || kind == '[') && d.hides(keys):
		inside := &comparer{limit: 1, mask: func(v []byte) ([]byte, int) { return v, 0 }}
		inside.parts(path, nil, was, is)
		if len(inside.changes) > 0 {
			d.add(path, keys, was, is)
		}
	case kind == '{' || kind == '[':
		d.parts(path, keys, was, is)
	case !sameScalar(was, is):
		d.add(path, keys, was, is)
	}
}

// parts compares the members of two objects, or the elements of two arrays, at the given path.
func (d *comparer) parts(path string, keys []string, was, is []byte) {
	if rawjson.Kind(is) == '{' {
		d.members(path, keys, was, is)
	} else {
		d.elements(path, keys, was, is)
	}
}

func (d *comparer) members(path string, keys []string, was, is []byte) {
	before := map[string][]byte{}
	rawjson.Members(was, func(key, value []byte, _ int) bool {
		before[string(key)] = value
		return true
	})
	rawjson.Members(is, func(key, value []byte, _ int) bool {
		k := string(key)
		d.value(path+member(k), append(slices.Clip(keys), k), before[k], value)
		delete(before, k)
		return true
	})
	rawjson.Members(was, func(key, value []byte, _ int) bool {
		if k := string(key); before[k] != nil {
			d.value(path+member(k), append(slices.Clip(keys), k), value, nil)
		}
		return true
	})
}

func (d *comparer) elements(path string, keys []string, was, is []byte) {
	before, now := elements(was), elements(is)
	for i := range max(len(before), len(now)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(before):
			d.add(at, keys, nil, now[i])
		case i >= len(now):
			d.add(at, keys, before[i], nil)
		default:
			d.value(at, keys, before[i], now[i])
		}
	}
}

func elements(list []byte) (all [][]byte) {
	rawjson.Elements(list, func(value []byte, _ int) bool {
		all = append(all, value)
		return true
	})
	return all
}

// sameScalar reports whether two scalars are equal. Numbers are compared as text, since the proxy
// forwards their text.
func sameScalar(was, is []byte) bool {
	if rawjson.Kind(is) != '"' {
		return bytes.Equal(was, is)
	}
	a, _ := rawjson.String(was)
	b, _ := rawjson.String(is)
	return a == b
}

func (d *comparer) add(path string, keys []string, was, is []byte) {
	if len(d.changes) == d.limit {
		d.more++
		return
	}
	d.changes = append(d.changes, Change{path, d.shown(keys, was), d.shown(keys, is)})
}

// hides reports whether the mask replaces the entire object or array at the given path, rather than
// only secrets within it.
func (d *comparer) hides(keys []string) bool { return rawjson.Kind(d.shown(keys, []byte(`{}`))) != '{' }

// shown returns the value to display under the given keys, with secrets masked. The mask recognizes
// a value by its keys, so shown wraps the value in objects with these keys, applies the mask, and
// unwraps the result.
func (d *comparer) shown(keys []string, value []byte) json.RawMessage {
	if value == nil {
		return nil
	}
	whole := value
	for i := len(keys) - 1; i >= 0; i-- {
		whole = rawjson.Object{}.Raw(keys[i], whole).Bytes()
	}
	whole, _ = d.mask(whole)
	for _, key := range keys {
		inside, ok := rawjson.Member(whole, key)
		if !ok { // an enclosing object is masked
			break
		}
		whole = inside
	}
	return bytes.Clone(whole)
}

// plainKey matches the keys that need no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// member returns the path step for an object member, such as .name or ["odd key"].
func member(key string) string {
	if plainKey.MatchString(key) {
		return "." + key
	}
	return "[" + string(rawjson.AppendString(nil, key)) + "]"
}
