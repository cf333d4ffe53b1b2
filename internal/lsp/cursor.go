package lsp

// A cursor is a place in a line of rules.
type cursor struct {
	line   string // of rules, with its end
	begin  int    // of the line in the text
	at     int    // in the line
	words  []word
	number int // of the line, from 0
}

// maxWords bounds the lines that are looked at: nobody writes longer ones by hand.
const maxWords = 2000

func (d *document) cursor(p Position) cursor {
	offset := d.offset(p)
	n, begin := d.row(offset)
	c := cursor{line: d.rowText(n), begin: begin, number: n}
	c.at = min(max(offset-begin, 0), len(c.line))
	c.words, _ = words(c.line)
	if len(c.words) > maxWords {
		c.words = nil
	}
	return c
}

// word returns the index of the word at the cursor, or -1.
func (c cursor) word() int {
	for i, w := range c.words {
		if w.from <= c.at && c.at <= w.to && w.kind != comma {
			return i
		}
	}
	return -1
}
