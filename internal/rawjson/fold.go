package rawjson

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold returns a form of the key that is equal for keys that differ only in letter
// case, by simple Unicode case folding. Case-insensitive parsers treat such keys as
// one.
func Fold(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, key)
		}
	}
	return key
}

// foldRune returns the lower-case ASCII letter in the orbit of r, if there is one,
// and otherwise the least rune of the orbit.
func foldRune(r rune) rune {
	least := r
	for s := unicode.SimpleFold(r); s != r; s = unicode.SimpleFold(s) {
		least = min(least, s)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// Variants reports whether the object obj has keys that differ from key in
// letter case only, besides it or in its place. The value is that of the key
// itself.
func Variants(obj []byte, key string) (value []byte, ok, variants bool) {
	Members(obj, func(k, v []byte, _ int) bool {
		switch {
		case string(k) == key:
			value, ok = v, true
		case strings.EqualFold(string(k), key):
			variants = true
		}
		return true
	})
	return value, ok, variants
}

// EachVariant calls yield for the value of each key of the object obj that is
// key or differs from it in letter case only, in source order.
func EachVariant(obj []byte, key string, yield func(value []byte)) {
	Members(obj, func(k, v []byte, _ int) bool {
		if strings.EqualFold(string(k), key) {
			yield(v)
		}
		return true
	})
}
