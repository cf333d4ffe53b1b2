package lsp

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// A Position is a place in a text as the protocol counts: lines from 0, and characters
// of UTF-16 from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A Range is what lies between two positions.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// A content is the text of a document, with the places of its lines in bytes. The protocol ends lines
// at LF, CR LF and CR; rules and YAML at LF. So what is known of the one is converted by
// way of the byte.
type content struct {
	src   string
	lines []int // where the lines of the protocol begin
	rows  []int // where the lines of rules begin
}

// The bounds of a text that is looked at. That of a document is the one that a
// configuration has on the disk; nobody writes longer lines by hand, and reading one
// takes time by the square of its length.
const (
	maxDocument = 4 << 20
	maxLine     = 16 << 10
)

// tooLarge says why a text is not looked at; empty: it is.
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

// line returns what stands on a line of the protocol, without its end.
func (t *content) line(n int) string {
	end := len(t.src)
	if n+1 < len(t.lines) {
		end = t.lines[n+1]
	}
	return strings.TrimRight(t.src[t.lines[n]:end], "\r\n")
}

// offset returns the byte at a position. A position beyond its line is the end of the
// line, one inside of a character is its begin, one beyond the text its end.
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

// position returns the position of a byte.
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

// row returns the line of rules, counted from 0, at a byte, and where it begins.
func (t *content) row(offset int) (n, begin int) {
	n = max(sort.SearchInts(t.rows, offset+1)-1, 0)
	return n, t.rows[n]
}

// rowText returns a line of rules, counted from 0, without its end.
func (t *content) rowText(n int) string {
	end := len(t.src)
	if n+1 < len(t.rows) {
		end = t.rows[n+1] - 1
	}
	return strings.TrimSuffix(t.src[t.rows[n]:max(end, t.rows[n])], "\r")
}

// place returns the byte at a line and a column of rules, both counted from 1, columns
// in characters. What lies beyond is the end of the line, before white
// space, or of the text.
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

// span returns the range between two bytes.
func (t *content) span(from, to int) Range { return Range{t.position(from), t.position(max(from, to))} }

// utf16Len counts the units of a character in UTF-16.
func utf16Len(r rune) int {
	if r != utf8.RuneError && r > 0xffff {
		return 2
	}
	return 1
}
