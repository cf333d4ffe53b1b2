package spec

import "github.com/petrigate/petrigate/internal/rawjson"

// Member returns a member of an object that is a string; "": there is none.
func Member(obj []byte, key string) string {
	v, _ := rawjson.Member(obj, key)
	s, _ := rawjson.String(v)
	return s
}

// MemberAt returns the member at the end of a path of keys through nested objects.
func MemberAt(obj []byte, keys ...string) (value []byte, ok bool) {
	for _, key := range keys {
		if obj, ok = rawjson.Member(obj, key); !ok {
			return nil, false
		}
	}
	return obj, true
}

// Declares reports whether capabilities have an object under the keys.
func Declares(capabilities []byte, keys ...string) bool {
	value, ok := MemberAt(capabilities, keys...)
	return ok && rawjson.Kind(value) == '{'
}
