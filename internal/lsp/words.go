package lsp

import (
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word is a token in a line of rules.
type word struct {
	kind     wordKind
	text     string // text as written in the line
	from, to int
}

type wordKind uint8

const (
	bare wordKind = iota
	quoted
	regex
	braces // a JSON object
	comma
)

// isKeyword reports whether the word is the given keyword.
func (w word) isKeyword(keyword string) bool { return w.kind == bare && w.text == keyword }

// words splits a line of rules into words. It accepts any line, even one that package rules
// rejects. The second result is the offset of the comment or, if the line has no comment, of the
// end of the line.
func words(line string) (all []word, comment int) {
	at := 0
	for {
		at += len(line[at:]) - len(strings.TrimLeftFunc(line[at:], separates))
		if at == len(line) || line[at] == '#' {
			return all, at
		}
		w := nextWord(line, at, all)
		all, at = append(all, w), w.to
	}
}

// separates reports whether a character separates words.
func separates(r rune) bool { return r == '\ufeff' || r == '\t' || unicode.Is(unicode.Z, r) || r < ' ' }

func nextWord(line string, at int, before []word) word {
	w := word{from: at, to: bareEnd(line, at)}
	switch {
	case line[at] == ',':
		w.kind, w.to = comma, at+1
	case line[at] == '"':
		if end := stringEnd(line, at); end > 0 {
			w.kind, w.to = quoted, end
			if strings.HasPrefix(line[end:], ".") { // the quoted tool in "a tool".field
				w.kind, w.to = bare, bareEnd(line, end)
			}
		}
	case line[at] == '{':
		d := json.NewDecoder(strings.NewReader(line[at:]))
		var raw json.RawMessage
		w.kind, w.to = braces, len(line)
		if err := d.Decode(&raw); err == nil || err == io.EOF {
			w.to = at + max(int(d.InputOffset()), 1)
		}
	case line[at] == '/' && len(before) > 1 && before[0].isKeyword("map"):
		if end := regexEnd(line, at); end > 0 {
			w.kind, w.to = regex, end
		}
	}
	w.text = line[w.from:w.to]
	return w
}

// bareEnd returns the end of the unquoted word at the given offset. The word can contain commas
// within brackets, and any characters within a quoted key.
func bareEnd(line string, at int) int {
	depth := 0
	for i := at; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		switch {
		case r == '[':
			depth++
			if end := stringEnd(line, i+1); strings.HasPrefix(line[i+1:], `"`) && end > 0 {
				size = end - i
			}
		case r == ']':
			depth--
		case i > at && (separates(r) || r == '#' || r == ',' && depth <= 0):
			return i
		}
		i += size
	}
	return len(line)
}

// stringEnd returns the end of the JSON string at the given offset, or 0 if the string is not
// terminated.
func stringEnd(line string, at int) int {
	for i := at + 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// regexEnd returns the end of the regular expression at the given offset. It returns 0 if the slash
// only begins an ordinary word, such as /etc in "/etc as a/b".
func regexEnd(line string, at int) int {
	wordEnd := bareEnd(line, at)
	rest, _, _ := strings.Cut(line[wordEnd:], "#")
	after := strings.FieldsFunc(rest, separates)
	for i := at + 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '/':
			if i >= wordEnd && len(after) == 2 && after[0] == "as" {
				return 0
			}
			return bareEnd(line, i)
		}
	}
	return 0
}

// name returns the name that a word denotes, without quotes.
func (w word) name() string {
	var s string
	if w.kind == quoted && json.Unmarshal([]byte(w.text), &s) == nil && utf8.ValidString(s) {
		return s
	}
	return w.text
}
