package gate

import "unicode/utf8"

// glob is a pattern over the names of a call.
type glob struct {
	pattern string
	except  string // a call that certainly has this name is not matched
	literal bool   // except is quoted: an action of that name does not count
	actions bool   // the pattern has a dot and so sees tool.action
}

// sees reports whether g applies to l at all.
func (g *glob) sees(l *label) bool {
	if l.actionOnly() && !g.actions {
		return false
	}
	return g.except == "" || l.text != g.except || g.literal && l.actionOnly()
}

// spares reports whether l exempts the whole call from g.
func (g *glob) spares(l *label) bool {
	return g.except != "" && l.certain && l.text == g.except && !(g.literal && l.actionOnly())
}

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
