package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/text"
)

// shown is the number of characters that an excerpt of a long line shows on each side of the
// column.
const shown = 80

// Excerpt returns a line of text and, below it, a row of carets. The carets begin at the given
// column, counted from 1, and mark the given number of characters. Long lines are shortened.
// Characters that could mislead people or terminals are escaped, except for tabs.
func Excerpt(line string, column, width int) string {
	runes := []rune(strings.TrimRightFunc(line, unicode.IsSpace))
	start := max(column-1, 0)
	at := min(start, len(runes))
	from, to := max(0, at-shown), min(len(runes), at+shown)
	var source, below strings.Builder
	for i := from; i < to; i++ {
		cell := "\t"
		if runes[i] != '\t' {
			cell = text.Escape(string(runes[i]))
		}
		source.WriteString(cell)
		switch n := utf8.RuneCountInString(cell); {
		case i >= start+width:
		case i >= start:
			below.WriteString(strings.Repeat("^", n))
		case cell == "\t":
			below.WriteString(cell)
		default:
			below.WriteString(strings.Repeat(" ", n))
		}
	}
	if start > at { // the column is in trailing white space, which is not shown
		below.WriteByte(' ')
	}
	if behind := start + width - max(len(runes), start); behind > 0 && to == len(runes) {
		below.WriteString(strings.Repeat("^", min(behind, shown)))
	}
	return "    " + source.String() + "\n    " + below.String()
}
