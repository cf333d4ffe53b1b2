package rules

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate"
)

// A scanner reads a line from left to right. After the first failure, all its methods return zero
// values. Therefore, callers need not check for errors after each word, and a line has at most one
// error.
type scanner struct {
	place  func(line, column int) gate.Position
	number int
	text   string
	off    int // current position, as a byte offset
	marks  []mark

	err *Error
}

// A mark stores the number of runes before an offset in a line, so that [scanner.column] need not
// count them from the start of the line.
type mark struct{ off, runes int }

// markEvery is the distance between successive marks of a line, in bytes. It limits the number of
// runes that [scanner.column] must count.
const markEvery = 1 << 8

// A token is a word in a line.
type token struct {
	kind tokenKind
	text string // the word without quotes
	off  int    // offset of the first byte
	end  int
}

type tokenKind uint8

const (
	atEnd tokenKind = iota
	bare
	quoted
)

// isWord reports whether t is the given bare word.
func (t token) isWord(word string) bool { return t.kind == bare && t.text == word }

// isCase reports whether t is a bare word that differs from the given word only in letter case.
func (t token) isCase(word string) bool {
	return t.kind == bare && t.text != word && strings.EqualFold(t.text, word)
}

// isSeparator reports whether r separates words.
func isSeparator(r rune) bool {
	switch r {
	case '\t', '\v', '\f', '\r', ' ', '\uFEFF':
		return true
	}
	return unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
}

// check rejects a line that is not valid UTF-8 or contains a control character.
func (s *scanner) check() {
	for i, r := range s.text {
		if r == utf8.RuneError && !strings.HasPrefix(s.text[i:], "\uFFFD") {
			s.fail(NotUTF8, token{off: i, end: i + 1}, "save the file as UTF-8", "the line is not UTF-8: byte 0x%02x", s.text[i])
			return
		}
		if unicode.IsControl(r) && !isSeparator(r) {
			s.fail(ControlChar, token{off: i, end: i + utf8.RuneLen(r)}, "", "control character %U", r)
			return
		}
	}
}

// next reads the next word.
func (s *scanner) next() token {
	t := s.peek()
	s.off = t.end
	return t
}

// peek returns the next word without consuming it.
func (s *scanner) peek() token {
	if s.err != nil {
		return token{}
	}
	start := s.skip(s.off)
	switch {
	case start == len(s.text) || s.text[start] == '#':
		return token{kind: atEnd, off: s.contentEnd(start), end: start}
	case s.text[start] == '"':
		return s.checkSeparated(s.readQuoted(start), "name")
	default:
		return s.bare(start, s.wordEnd(start))
	}
}

// skip returns the offset of the first byte at or after off that is not a separator.
func (s *scanner) skip(off int) int {
	for off < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[off:])
		if !isSeparator(r) {
			break
		}
		off += size
	}
	return off
}

// contentEnd returns the offset for errors about a word that is missing before off. It is the end
// of the previous word or, if separators follow the word, the end of the first separator.
func (s *scanner) contentEnd(off int) int {
	end := len(strings.TrimRightFunc(s.text[:off], isSeparator))
	if end < off {
		_, size := utf8.DecodeRuneInString(s.text[end:])
		end += size
	}
	return end
}

// wordEnd returns the end of the bare word that begins at start.
func (s *scanner) wordEnd(start int) int {
	n := strings.IndexFunc(s.text[start:], func(r rune) bool { return r == '#' || isSeparator(r) })
	if n < 0 {
		return len(s.text)
	}
	return start + n
}

func (s *scanner) bare(start, end int) token {
	t := token{kind: bare, text: s.text[start:end], off: start, end: end}
	if i := strings.IndexByte(t.text, '"'); i >= 0 {
		s.fail(BadQuotes, token{off: start + i, end: start + i + 1}, "quote the whole name", "a quote inside the word %s", t.text)
		return token{}
	}
	return t
}

// readQuoted reads a quoted name. The caller must check the text after it.
func (s *scanner) readQuoted(start int) token {
	t := s.jsonString(start, "name")
	if t.kind == quoted && t.text == "" {
		s.fail(BadQuotes, t, "", "the quoted name is empty")
	}
	return t
}

// jsonString reads a JSON string. The what parameter describes the string in error messages, for
// example "name".
func (s *scanner) jsonString(start int, what string) token {
	end := stringEnd(s.text, start)
	if end < 0 {
		s.fail(BadQuotes, token{off: start, end: start + 1}, "", "the quoted %s does not end on this line", what)
		return token{}
	}
	t := token{kind: quoted, off: start, end: end}
	switch err := json.Unmarshal([]byte(s.text[start:end]), &t.text); {
	case err != nil:
		s.fail(BadQuotes, t, "write it as a JSON string, with tabs and backslashes escaped", "the quoted %s is not a JSON string", what)
	case strings.ContainsRune(t.text, utf8.RuneError): // package json replaces an unpaired surrogate with this rune
		s.fail(BadQuotes, t, "", "the quoted %s contains an invalid character", what)
	}
	return t
}

// stringEnd returns the offset after the closing quote of the string that begins at start, or -1 if
// the string does not end.
func stringEnd(text string, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// stringOffset converts an offset in a decoded string to an offset in the line. The JSON string
// begins at start and must be valid.
func stringOffset(line string, start, offset int) int {
	at := start + 1
	for n := 0; n < offset && line[at] != '"'; {
		switch {
		case line[at] != '\\':
			at, n = at+1, n+1
		case line[at+1] != 'u':
			at, n = at+2, n+1
		default:
			r, size := escapedRune(line[at:])
			at, n = at+size, n+utf8.RuneLen(r)
		}
	}
	return at
}

// escapedRune decodes \uXXXX, or a surrogate pair of two such escapes.
func escapedRune(s string) (r rune, size int) {
	code := func(s string) rune {
		n, _ := strconv.ParseUint(s[2:6], 16, 16)
		return rune(n)
	}
	if r = code(s); utf16.IsSurrogate(r) { // in a valid string, the other half of the pair follows
		return utf16.DecodeRune(r, code(s[6:])), 12
	}
	return r, 6
}

// checkSeparated rejects quoted text that touches the next word. The what parameter describes the
// text in error messages, for example "name".
func (s *scanner) checkSeparated(t token, what string) token {
	if s.err != nil {
		return token{}
	}
	if end := s.wordEnd(t.end); end > t.end {
		s.fail(BadQuotes, token{off: t.end, end: end}, "put a space between them", "%q follows the %s directly", s.text[t.end:end], what)
		return token{}
	}
	return t
}

// position returns the position of the byte at off.
func (s *scanner) position(off int) gate.Position {
	return s.place(s.number, s.column(off))
}

// column returns the column of the byte at off, in runes, starting at 1.
func (s *scanner) column(off int) int {
	if off < markEvery {
		return utf8.RuneCountInString(s.text[:off]) + 1
	}
	if s.marks == nil {
		s.mark()
	}
	m := s.marks[min(off/markEvery, len(s.marks)-1)]
	return m.runes + utf8.RuneCountInString(s.text[min(m.off, off):off]) + 1
}

// mark sets s.marks, the rune counts that [scanner.column] uses.
func (s *scanner) mark() {
	runes := 0
	for i := range s.text {
		if i >= len(s.marks)*markEvery {
			s.marks = append(s.marks, mark{i, runes})
		}
		runes++
	}
}

// span returns the span between two offsets, at least one rune long.
func (s *scanner) span(from, to int) span {
	column := s.column(from)
	return span{line: s.text, column: column, width: max(1, s.column(max(from, to))-column)}
}

// fail records an error, unless the line already has one.
func (s *scanner) fail(code Code, at token, hint, format string, args ...any) {
	if s.err == nil {
		s.err = s.errorAt(code, at, hint, format, args...)
	}
}

// errorAt returns an error whose position and excerpt point at a token.
func (s *scanner) errorAt(code Code, at token, hint, format string, args ...any) *Error {
	return &Error{Pos: s.position(at.off), Code: code, Msg: fmt.Sprintf(format, args...), Hint: hint, span: s.span(at.off, at.end)}
}
