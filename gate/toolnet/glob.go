package toolnet

import "unicode/utf8"

// MatchGlob reports whether the pattern of a [Glob] matches all of s. In the pattern, * matches any
// sequence of characters, and ? matches a single character. On a mismatch, MatchGlob backtracks
// only to the last star, so its cost is at most len(pattern)*len(s).
func MatchGlob(pattern, s string) bool {
	star, mark := -1, 0 // index in pattern of the last * reached, and the end in s of the part that this * matches
	p, i := 0, 0
	for i < len(s) {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			i += size
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			_, size := utf8.DecodeRuneInString(s[mark:])
			mark += size
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
