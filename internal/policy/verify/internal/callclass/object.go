package callclass

import (
	"encoding/json"
	"maps"
	"strings"
)

// An object holds arguments under construction.
type object map[string]any

// merge returns a copy of o with the members of sample added. The second result is false if o and
// sample have a member in common.
func (o object) merge(sample map[string]any) (object, bool) {
	out := maps.Clone(o)
	for key, v := range sample {
		if _, there := out[key]; there {
			return nil, false
		}
		out[key] = v
	}
	return out, true
}

// text returns o as JSON, or the empty string if o has no members.
func (o object) text() string {
	if len(o) == 0 {
		return ""
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // cannot happen: the members are plain JSON values
	}
	return string(text)
}

// place sets the given field to content and reports whether it succeeded. It fails if the field
// already has different content.
func (o object) place(field string, content any) bool {
	return o.placeAt(keysOf(field), content)
}

// placeAt is like place, but takes the field as a path, a list of steps.
func (o object) placeAt(path []string, content any) bool {
	if len(path) == 0 || strings.HasPrefix(path[0], "[") {
		return false
	}
	key, rest, elements := path[0], path[1:], 0
	for ; len(rest) > 0 && strings.HasPrefix(rest[0], "["); rest = rest[1:] {
		elements++
	}
	if len(rest) == 0 {
		value := wrap(content, elements)
		if old, there := o[key]; there {
			return same(old, value) || same(old, []any{value}) // reading a field from a list with a single element yields the element
		}
		o[key] = value
		return true
	}
	inner := make(map[string]any)
	switch old := o[key].(type) {
	case nil:
		o[key] = wrap(inner, elements)
	case map[string]any:
		if elements > 0 {
			return false
		}
		inner = old
	default:
		return false
	}
	return object(inner).placeAt(rest, content)
}

// wrap nests value in the given number of single-element lists.
func wrap(value any, lists int) any {
	for range lists {
		value = []any{value}
	}
	return value
}

// same reports whether the two values have the same JSON encoding.
func same(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && string(x) == string(y)
}

// clone returns a copy of object. Nested objects are copied, but arrays are shared.
func clone(object map[string]any) map[string]any {
	out := maps.Clone(object)
	for key, v := range out {
		if inner, ok := v.(map[string]any); ok {
			out[key] = clone(inner)
		}
	}
	return out
}

// put sets the field, which is a key or a plain path, in the arguments. It reports whether the
// content fits there.
func put(object map[string]any, field string, content any) bool {
	path, deep := strings.CutPrefix(field, "$.")
	if !isPath(field) {
		_, taken := object[field] // a longer path that begins with this key may already be set
		object[field] = content
		return !taken
	}
	if !deep || strings.ContainsAny(path, `["`) {
		return false
	}
	keys := strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		if object[key] == nil {
			object[key] = make(map[string]any)
		}
		inner, ok := object[key].(map[string]any)
		if !ok {
			return false
		}
		object = inner
	}
	last := keys[len(keys)-1]
	if object[last] != nil {
		return false
	}
	object[last] = content
	return true
}
