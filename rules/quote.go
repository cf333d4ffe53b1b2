package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// quote formats s as a JSON string. It also escapes invisible characters and characters that a
// rules file must not contain.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case isInvisible(r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) ||
		r == '\u2800' // the blank Braille pattern, which looks like a space
}

// firstInvisible returns the first invisible character in a string, if any.
func firstInvisible(s string) (rune, bool) {
	for _, r := range s {
		if isInvisible(r) {
			return r, true
		}
	}
	return 0, false
}

// joinWords formats a command's words, quoted if necessary.
func joinWords(words []string) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w
		special := func(r rune) bool { return r == '"' || r == '#' || isSeparator(r) || unicode.IsControl(r) }
		if w == "as" || strings.HasSuffix(w, ":*") || slices.Contains(operators, w) || i == 0 && w == "exactly" && len(words) > 1 || strings.ContainsFunc(w, special) {
			texts[i] = quote(w)
		}
	}
	return strings.Join(texts, " ")
}

// operators contains words with a special meaning in shells. Such a word is never an argument of a
// program.
var operators = []string{"&&", "||", "|", "|&", ";", "&", ">", ">>", "<", "2>", "2>&1", "&>"}
