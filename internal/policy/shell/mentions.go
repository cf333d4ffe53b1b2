package shell

import "strings"

// mentions are the words in the arguments of programs of which the tables say
// nothing: such a program may run what its arguments name. All words are
// collected once, for all patterns.
type mentions struct {
	words map[string]struct{}
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
	if m.words == nil {
		m.words = make(map[string]struct{})
	}
	m.texts = append(m.texts, text)
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && isNameByte(text[end]) {
			end++
		}
		if end > start {
			m.words[text[start:end]] = struct{}{}
		}
		start = end + 1
	}
}

// has reports whether a text holds the name with nothing around it that could
// belong to a name.
func (m *mentions) has(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return m.holds(name)
		}
	}
	_, ok := m.words[name]
	return ok
}

// hasAll reports whether the texts hold the words of a pattern, options left aside.
func (m *mentions) hasAll(p Pattern) bool {
	for _, w := range p.operands {
		if !m.has(w) {
			return false
		}
	}
	return m.has(p.name)
}

// holds looks for a name that no word can be, such as g++ or [.
func (m *mentions) holds(name string) bool {
	for _, text := range m.texts {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b >= 0x80 ||
		'0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
