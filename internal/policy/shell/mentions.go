package shell

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// mentions are the words in the arguments of programs of which the tables say
// nothing: such a program may run what its arguments name. All words are
// collected once, for all patterns.
type mentions struct {
	words set
	texts []string // for names of which not every byte belongs to a name
}

// add collects the words of arguments, also as a shell would have them that
// reads them once more.
func (m *mentions) add(args []arg) {
	for _, a := range args {
		for _, text := range [...]string{a.text, a.tail} {
			m.text(text)
			if strings.ContainsAny(text, "\\'\"") {
				m.text(unquote.Replace(text))
			}
		}
	}
}

// unquote drops what shells take for quotes.
var unquote = strings.NewReplacer("\\", "", "'", "", "\"", "")

// text collects the words of a text.
func (m *mentions) text(text string) {
	if text == "" {
		return
	}
	m.texts = append(m.texts, text)
	for word := range strings.FieldsFuncSeq(text, isBetween) {
		m.words.add(word)
	}
}

// has reports whether a text holds the name with nothing around it that could
// belong to a name.
func (m *mentions) has(name string) bool {
	if strings.ContainsFunc(name, isBetween) { // no word can be it, as with g++ or [
		return slices.ContainsFunc(m.texts, func(text string) bool { return strings.Contains(text, name) })
	}
	return m.words[name]
}

// hasAll reports whether the texts hold the words of a pattern, options left aside.
func (m *mentions) hasAll(p Pattern) bool {
	return m.has(p.name) && !slices.ContainsFunc(p.operands, func(w string) bool { return !m.has(w) })
}

// isBetween reports whether a character belongs to no name.
func isBetween(c rune) bool {
	isName := c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	return c < utf8.RuneSelf && !isName
}
