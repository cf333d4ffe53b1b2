// Package jsondiff says what differs between two JSON values.
package jsondiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// maxShown is how much of a value, or of its place, a line shows; the line says how long it is.
const maxShown = 200

// A Change is a value that differs.
type Change struct {
	Path string          // from $
	Was  json.RawMessage `json:",omitempty"` // nil: there was none
	Is   json.RawMessage `json:",omitempty"` // nil: there is none
}

// String says what became of the value, on a line.
func (c Change) String() string {
	switch {
	case c.Was == nil:
		return "added " + line(c.Is)
	case c.Is == nil:
		return "removed " + line(c.Was)
	case bytes.Equal(c.Was, c.Is): // both are masked
		return line(c.Was) + " -> another value"
	}
	return line(c.Was) + " -> " + line(c.Is)
}

// line is a JSON value on a line.
func line(value []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		b.Write(value)
	}
	return Brief(b.String())
}

// Brief is a text, or where that is long, its beginning with how long it is.
func Brief(s string) string {
	if len(s) <= maxShown {
		return text.Escape(s)
	}
	return text.Excerpt(s, maxShown) + fmt.Sprintf(" (%d bytes)", len(s))
}

// Compare lists what differs between two JSON values, at most so many changes, and counts
// the others. Mask hides values where it applies, and reports how many; nil: it hides none.
// Values that are hidden differ where what they hide does.
func Compare(was, is []byte, most int, mask func([]byte) ([]byte, int)) (changes []Change, more int) {
	if mask == nil {
		mask = func(v []byte) ([]byte, int) { return v, 0 }
	}
	d := &comparer{mask: mask, most: most}
	d.value("$", nil, was, is)
	return d.changes, d.more
}

// A comparer walks through two JSON values at once.
type comparer struct {
	mask    func([]byte) ([]byte, int)
	most    int
	changes []Change
	more    int
}

// value compares two values, whose place is the path, below the keys.
func (d *comparer) value(path string, keys []string, was, is []byte) {
	kind := rawjson.Kind(is)
	switch {
	case kind != rawjson.Kind(was):
		d.add(path, keys, was, is)
	case (kind == '{' || kind == '[') && d.hides(keys):
		inside := &comparer{most: 1, mask: func(v []byte) ([]byte, int) { return v, 0 }}
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

// parts compares two objects, or two lists.
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
		if old, both := before[k]; both {
			d.value(path+member(k), append(keys[:len(keys):len(keys)], k), old, value)
			delete(before, k)
		} else {
			d.add(path+member(k), append(keys[:len(keys):len(keys)], k), nil, value)
		}
		return true
	})
	rawjson.Members(was, func(key, value []byte, _ int) bool {
		if k := string(key); before[k] != nil {
			d.add(path+member(k), append(keys[:len(keys):len(keys)], k), value, nil)
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

// sameScalar reports whether two values that are neither objects nor lists are the same.
// Numbers are as they are written, since they are forwarded so.
func sameScalar(was, is []byte) bool {
	if rawjson.Kind(is) != '"' {
		return bytes.Equal(was, is)
	}
	a, _ := rawjson.String(was)
	b, _ := rawjson.String(is)
	return a == b
}

func (d *comparer) add(path string, keys []string, was, is []byte) {
	if len(d.changes) == d.most {
		d.more++
		return
	}
	d.changes = append(d.changes, Change{path, d.shown(keys, was), d.shown(keys, is)})
}

// hides reports whether the value below the keys is masked as a whole.
func (d *comparer) hides(keys []string) bool { return rawjson.Kind(d.shown(keys, []byte(`{}`))) != '{' }

// shown is the value below the keys as people see it. A mask knows a value by the keys above it.
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
		if !ok { // all that is above is masked
			break
		}
		whole = inside
	}
	return bytes.Clone(whole)
}

// plainKey is a key that a path has as it is.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// member is the step of a path to the member of an object.
func member(key string) string {
	if plainKey.MatchString(key) {
		return "." + key
	}
	return "[" + string(rawjson.AppendString(nil, key)) + "]"
}
