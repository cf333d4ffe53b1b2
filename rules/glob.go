package rules

import "unicode/utf8"

// matchGlob reports whether pattern, in which * is any run of characters and
// ? one character, matches the whole of s. On a mismatch it goes back to the
// last star only, so that its cost is at most len(pattern)*len(s).
func matchGlob(pattern, s string) bool {
	p, i := 0, 0
	star, from := -1, 0
	for i < len(s) {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			i += size
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[from:])
			from += size
			p, i = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
