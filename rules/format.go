package rules

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/gate"
)

// Format returns a rules file in canonical form: statements as their String
// methods print them, one blank line in place of several, comments after
// neighboring statements in one column. It keeps every comment, the order of the
// lines, and the meaning of the file. If the file cannot be parsed, it returns no
// text and an [ErrorList] whose positions have no file name.
func Format(src []byte) ([]byte, error) {
	var lines []formatted
	var errs ErrorList
	place := func(line, column int) gate.Position { return gate.Position{Line: line, Column: column} }
	for _, s := range scanLines(src, place) {
		p := parser{line: s}
		statement := p.statement()
		if s.err != nil {
			errs = append(errs, s.err)
			continue
		}
		l := formatted{comment: strings.TrimRightFunc(s.text[s.skip(s.off):], isSeparator)}
		if statement != nil {
			l.text = statement.String()
		}
		lines = append(lines, l)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return layOut(lines), nil
}

// formatted is one line in canonical form.
type formatted struct{ text, comment string }

func (l formatted) blank() bool    { return l.text == "" && l.comment == "" }
func (l formatted) trailing() bool { return l.text != "" && l.comment != "" }

// layOut joins the lines.
func layOut(lines []formatted) []byte {
	var b bytes.Buffer
	gap := false
	for i := 0; i < len(lines); {
		if lines[i].blank() {
			gap = b.Len() > 0
			i++
			continue
		}
		if gap {
			b.WriteByte('\n')
			gap = false
		}
		n := block(lines[i:])
		writeBlock(&b, lines[i:i+n])
		i += n
	}
	return b.Bytes()
}

// block counts the lines, from the first on, whose comments are in one column.
func block(lines []formatted) int {
	n := 1
	if lines[0].trailing() {
		for n < len(lines) && lines[n].trailing() {
			n++
		}
	}
	return n
}

func writeBlock(b *bytes.Buffer, lines []formatted) {
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(l.text))
	}
	for _, l := range lines {
		b.WriteString(l.text)
		if l.trailing() {
			b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(l.text)+1))
		}
		b.WriteString(l.comment)
		b.WriteByte('\n')
	}
}
