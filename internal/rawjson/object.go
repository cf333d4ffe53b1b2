package rawjson

import (
	"bytes"
	"slices"
)

// An Object builds a JSON object member by member. The zero value is the empty object.
type Object []byte

// Raw appends a member whose value is JSON.
func (o Object) Raw(key string, value []byte) Object {
	return append(o.key(key), value...)
}

// String appends a member whose value is a string.
func (o Object) String(key, value string) Object {
	return AppendString(o.key(key), value)
}

func (o Object) key(key string) Object {
	before := byte(',')
	if len(o) == 0 {
		before = '{'
	}
	return append(AppendString(append(o, before), key), ':')
}

// Bytes returns the complete object.
func (o Object) Bytes() []byte {
	if len(o) == 0 {
		return []byte(`{}`)
	}
	return append(o, '}')
}

// Omit returns the object obj without the members that have one of the given keys. Keys are
// compared after decoding. If obj has no such members, Omit returns obj itself.
func Omit(obj []byte, keys []string) []byte {
	left, found := Object(nil), false
	if len(keys) == 0 {
		return obj
	}
	Members(obj, func(key, value []byte, _ int) bool {
		if slices.Contains(keys, string(key)) {
			found = true
		} else {
			left = left.Raw(string(key), value)
		}
		return true
	})
	if !found {
		return obj
	}
	return left.Bytes()
}

// Array returns a JSON array of the given JSON values.
func Array(elements ...[]byte) []byte {
	return slices.Concat([]byte(`[`), bytes.Join(elements, []byte(`,`)), []byte(`]`))
}

// StringArray returns a JSON array of strings.
func StringArray(strings []string) []byte {
	var elements [][]byte
	for _, s := range strings {
		elements = append(elements, AppendString(nil, s))
	}
	return Array(elements...)
}
