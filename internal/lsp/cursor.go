package lsp

import "slices"

// A cursor is a position in a line of rules.
type cursor struct {
	line  string // text of the line
	begin int    // byte offset of the line in the document
	at    int    // byte offset of the cursor within the line
	words []word
}

// maxWords is the maximum number of words in a line. Lines written by hand are shorter. A longer
// line is treated as if it had no words.
const maxWords = 2000

func (d *document) cursor(p Position) cursor {
	offset := d.offset(p)
	n, begin := d.row(offset)
	c := cursor{line: d.rowText(n), begin: begin}
	c.at = min(max(offset-begin, 0), len(c.line))
	c.words, _ = words(c.line)
	if len(c.words) > maxWords {
		c.words = nil
	}
	return c
}

// word returns the index of the word at the cursor, or -1.
func (c cursor) word() int {
	return slices.IndexFunc(c.words, func(w word) bool { return w.from <= c.at && c.at <= w.to && w.kind != comma })
}
