package shell

import (
	"strings"
	"unicode/utf8"
)

// codes has the doubts about code in other languages. Such code may use the files that it names.
var codes = map[string]bool{"a program on the command line": true, "a program that is read from the input": true}

// maxPaths bounds the words that are considered as paths in such code.
const maxPaths = 25_000

// A codePath is a word in another language's code that may be a file path, with the index of the
// doubt about the code.
type codePath struct {
	path string
	of   int
}

// codePaths returns the words in code of other languages, without duplicates. more is true if there
// are too many words.
func (f *findings) codePaths() (all []codePath, more bool) {
	seen := set{}
	for _, m := range f.mentions.texts {
		if !codes[f.doubts[m.of].what] {
			continue
		}
		for word := range strings.FieldsFuncSeq(m.text, isBetweenPaths) {
			if seen[word] {
				continue
			}
			if len(all) == maxPaths {
				return all, true
			}
			seen.add(word)
			all = append(all, codePath{word, m.of})
		}
	}
	return all, false
}

// isBetweenPaths reports whether a character cannot be part of a path.
func isBetweenPaths(c rune) bool { return c != '/' && c != '~' && c < utf8.RuneSelf && isBetween(c) }
