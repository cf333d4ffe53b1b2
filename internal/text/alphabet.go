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

// Alphabets returns the names of the alphabets that the word's letters belong to. It considers only
// the Latin alphabet and alphabets with letters that look like Latin letters. A word with letters
// from several alphabets might be mistaken for another word.
func Alphabets(word string) []string {
	var names []string
	for _, a := range alphabets {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(a.letters, r) }) {
			names = append(names, a.name)
		}
	}
	return names
}
