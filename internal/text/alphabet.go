package text

import (
	"strings"
	"unicode"
)

// alphabets lists alphabets with letters that look like Latin letters.
var alphabets = []struct {
	name    string
	letters *unicode.RangeTable
}{
	{"Latin", unicode.Latin},
	{"Cyrillic", unicode.Cyrillic},
	{"Greek", unicode.Greek},
	{"Armenian", unicode.Armenian},
	{"Cherokee", unicode.Cherokee},
}

// Alphabets returns the names of those [alphabets] whose letters occur in the word. If there are
// several, the word might be mistaken for another one, because some of their letters look alike.
func Alphabets(word string) []string {
	var names []string
	for _, a := range alphabets {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(a.letters, r) }) {
			names = append(names, a.name)
		}
	}
	return names
}
