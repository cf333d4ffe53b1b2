package lsp

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// A content is the text of a document with the byte offsets of its lines. In the protocol, LF, CR
// LF and CR all end a line, but in rules and YAML only LF does. Byte offsets are used to convert
// between the two kinds of positions.
type content struct {
	src   string
	lines []int // byte offsets of the lines if LF, CR LF and CR end a line, as in the protocol
	rows  []int // byte offsets of the lines if only LF ends a line, as in rules
}

// A Position is a position in a text as defined by the protocol: a line and an offset in UTF-16
// code units, both starting at 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Range is the text between two positions.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Limits on the size of texts. Larger texts are not checked. maxDocument also applies to files on
// disk. maxLine is needed because the time to parse a line grows with the square of its length;
// lines written by hand are shorter than maxLine.
const (
	maxDocument = 4 << 20
	maxLine     = 16 << 10
)

// tooLarge returns the reason why the text is too large to be checked, or "" if it is small enough.
func (t *content) tooLarge() string {
	if len(t.src) > maxDocument {
		return fmt.Sprintf("the text is over %d MiB and is not checked", maxDocument>>20)
	}
	for n := range t.rows {
		if len(t.rowText(n)) > maxLine {
			return fmt.Sprintf("line %d is over %d KiB, and the text is not checked", n+1, maxLine>>10)
		}
	}
	return ""
}

func newContent(src string) *content {
	t := &content{src: src, lines: []int{0}, rows: []int{len(src) - len(strings.TrimPrefix(src, "\ufeff"))}}
	for i := range len(src) {
		switch {
		case src[i] == '\n':
			t.lines, t.rows = append(t.lines, i+1), append(t.rows, i+1)
		case src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// line returns line n, as defined by the protocol, without its line ending.
func (t *content) line(n int) string {
	end := len(t.src)
	if n+1 < len(t.lines) {
		end = t.lines[n+1]
	}
	return strings.TrimRight(t.src[t.lines[n]:end], "\r\n")
}

// offset returns the byte offset of a position. For a position past the end of its line, it returns
// the end of the line. For a position past the end of the text, it returns the end of the text. For
// a position within a character, it returns the start of the character.
func (t *content) offset(p Position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.lines):
		return len(t.src)
	}
	line, units := t.line(p.Line), 0
	for i, r := range line {
		if units += utf16Len(r); units > p.Character {
			return t.lines[p.Line] + i
		}
	}
	return t.lines[p.Line] + len(line)
}

// position returns the position at a byte offset.
func (t *content) position(offset int) Position {
	offset = min(max(offset, 0), len(t.src))
	n := sort.SearchInts(t.lines, offset+1) - 1
	p := Position{Line: n}
	line := t.line(n)
	for i, r := range line {
		if t.lines[n]+i >= offset {
			break
		}
		p.Character += utf16Len(r)
	}
	return p
}

// row returns the number of the line that contains a byte offset, and the offset where that line
// begins. Only LF ends a line, and the first line has number 0.
func (t *content) row(offset int) (n, begin int) {
	n = max(sort.SearchInts(t.rows, offset+1)-1, 0)
	return n, t.rows[n]
}

// rowText returns line n without its line ending. Only LF ends a line, and the first line has
// number 0.
func (t *content) rowText(n int) string {
	end := len(t.src)
	if n+1 < len(t.rows) {
		end = t.rows[n+1] - 1
	}
	return strings.TrimSuffix(t.src[t.rows[n]:max(end, t.rows[n])], "\r")
}

// place returns the byte offset of the given line and column in rules. Both start at 1, and columns
// are in characters. If the column is past the end of the line, place returns the end of the line,
// not counting trailing white space. If the line is past the end of the text, place returns the end
// of the text.
func (t *content) place(line, column int) int {
	switch {
	case line < 1:
		return 0
	case line > len(t.rows):
		return len(t.src)
	}
	row, at := strings.TrimRight(t.rowText(line-1), " \t\r\v\f"), t.rows[line-1]
	for i := range row {
		if column--; column < 1 {
			return at + i
		}
	}
	return at + len(row)
}

// span returns the range between two byte offsets.
func (t *content) span(from, to int) Range { return Range{t.position(from), t.position(max(from, to))} }

// utf16Len returns the number of code units in the UTF-16 encoding of the character r.
func utf16Len(r rune) int {
	if r != utf8.RuneError && r > 0xffff {
		return 2
	}
	return 1
}
