package rawjson

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold returns a canonical form of key. Keys that differ only in letter case, according to simple
// Unicode case folding, have the same form; parsers that ignore case treat them as equal.
func Fold(key string) string {
	for i := range len(key) {
		if c := key[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, key)
		}
	}
	return key
}

// foldRune returns the rune that represents r and all runes that differ from r only in letter case.
// This is the lower-case ASCII letter among them, if any, and otherwise the smallest rune.
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

// Variants returns the value of the given key in the object obj, and whether obj has this key. It
// also reports whether obj has keys that differ from the given one only in letter case.
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

// EachVariant calls yield, in source order, with the value of each member of obj whose key equals
// key or differs from it only in letter case.
func EachVariant(obj []byte, key string, yield func(value []byte)) {
	Members(obj, func(k, v []byte, _ int) bool {
		if strings.EqualFold(string(k), key) {
			yield(v)
		}
		return true
	})
}
