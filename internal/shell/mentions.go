package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/list"
)

// A mentionIndex finds the names of commands in text that was not parsed, such as the arguments of
// a program that may run a command named in them. It is built once and used for all patterns. The
// map words contains each word of the text. Its values are indexes in [results.doubts], which
// identify the part of the script that contains the word.
type mentionIndex struct {
	words map[string]int
	texts []mention // all of the text, for finding file paths and names that contain separators
}

// A mention is a piece of text that was not parsed. Its index in [results.doubts] identifies the
// part of the script that contains it.
type mention struct {
	text string
	of   int
}

// add adds the words in args to the index. An argument may be read in several ways, so add also
// adds variants of it. One is the text after the first letters of an option, which may be a value,
// as in -xVALUE. Another is the argument with spaces in place of URL-encoded separators. The last
// is the argument without quotes and escapes, as a second shell would read it.
func (m *mentionIndex) add(args []arg, of int) {
	for _, a := range args {
		for _, text := range [...]string{a.text, a.tail} {
			m.addText(text, of)
			if len(text) > 2 && text[0] == '-' && text[1] != '-' { // an option may have an attached value, as in -xVALUE, possibly with other letters before x
				for i := 2; i < min(6, len(text)); i++ {
					m.addText(text[i:], of)
				}
			}
			if strings.Contains(text, "%") {
				m.addText(separatorEscapes.Replace(text), of)
			}
			if strings.ContainsAny(text, "\\'\"") {
				m.addText(unquote.Replace(text), of)
				if spaced := spaceEscapes.Replace(text); spaced != text {
					m.addText(unquote.Replace(spaced), of)
				}
			}
		}
	}
}

// separatorEscapes replaces URL-encoded separators with spaces.
var separatorEscapes = strings.NewReplacer("%20", " ", "%22", " ", "%27", " ", "%28", " ", "%2F", " ", "%2f", " ", "%0A", " ", "%0a", " ")

// unquote removes quotes and backslashes.
var unquote = strings.NewReplacer("\\", "", "'", "", "\"", "")

// addText adds unparsed text and its words to m.
func (m *mentionIndex) addText(text string, of int) {
	if text == "" {
		return
	}
	m.texts = append(m.texts, mention{text, of})
	for word := range strings.FieldsFuncSeq(text, isBetween) {
		if _, ok := m.words[word]; !ok {
			put(&m.words, word, of)
		}
	}
}

// has reports whether name occurs as a word in text that was not parsed. It also returns the index
// of the [doubt] that explains why a command with this name may run.
func (m *mentionIndex) has(name string) (of int, ok bool) {
	if strings.ContainsFunc(name, isBetween) { // the name itself contains characters that separate words, as g++ and [ do
		if t := list.Find(m.texts, func(t mention) bool { return strings.Contains(t.text, name) }); t != nil {
			return t.of, true
		}
		return 0, false
	}
	of, ok = m.words[name]
	return of, ok
}

// hasAll reports whether text that was not parsed may contain all words of the pattern. It ignores
// operands with wildcards. It also returns the index of the [doubt] that explains why the pattern's
// program may run.
func (m *mentionIndex) hasAll(p *Pattern) (of int, ok bool) {
	if len(m.words) == 0 {
		return 0, false
	}
	if of, ok = m.hasName(p); !ok {
		return 0, false
	}
	for i := range p.operands {
		if w := &p.operands[i]; !w.glob {
			if _, ok := m.has(w.text); !ok {
				return 0, false
			}
		}
	}
	for i := range p.options {
		if !m.mayHave(&p.options[i]) {
			return 0, false
		}
	}
	return of, true
}

// hasName reports whether the pattern's program name matches a word in text that was not parsed. It
// also returns the index of the [doubt] that explains why the program may run.
func (m *mentionIndex) hasName(p *Pattern) (of int, ok bool) {
	if !p.name.glob {
		return m.has(p.name.text)
	}
	for word, n := range m.words {
		if p.name.matches(word) && (!ok || n < of) {
			of, ok = n, true
		}
	}
	return of, ok
}

// mayHave reports whether text that was not parsed may contain the given option, alone or combined
// with others, as in -xvf.
func (m *mentionIndex) mayHave(w *wanted) bool {
	hasValue := false // whether the option's value may occur as a separate word
	if w.with {
		_, hasValue = m.has(w.value)
	}
	for word := range m.words {
		if strings.HasPrefix(word, "-") && (w.given(nil, []arg{{text: word}}) != NoMatch || hasValue && w.given(nil, []arg{{text: word}, {text: w.value}}) != NoMatch) {
			return true
		}
		for _, n := range w.names { // the option may be assembled from strings, as in '-' + 'rf'
			if len(n) > 1 && strings.TrimLeft(word, "-") == strings.TrimLeft(n, "-") {
				return true
			}
		}
	}
	return slices.ContainsFunc(w.names, func(n string) bool { return n == "+" || n == ":" }) && slices.ContainsFunc(m.texts, func(t mention) bool {
		return strings.Contains(t.text, " +") || strings.Contains(t.text, " :")
	})
}

// isBetween reports whether the character c separates names, that is, cannot be part of one.
func isBetween(c rune) bool {
	isName := c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	return c < utf8.RuneSelf && !isName
}

// spaceEscapes replaces escape sequences for white space with spaces.
var spaceEscapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ")
