package toolnet

import "unicode/utf8"

// MatchGlob reports whether the pattern of a [Glob] matches the whole of s:
// * is any run of characters, ? is one character. On a mismatch it goes back
// to the last star only, so that its cost is at most len(pattern)*len(s).
func MatchGlob(pattern, s string) bool {
	star, mark := -1, 0 // where the last * stands, and up to where it has eaten s
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
