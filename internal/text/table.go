package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes rows in aligned columns below a header, which contains the titles of the columns
// separated by "|". It escapes all cells. Without rows, Table writes only the fallback text.
func Table(w io.Writer, fallback, head string, rows [][]string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, fallback)
		return err
	}
	out := bufio.NewWriter(w) // buffered, because a tabwriter writes each cell separately
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(t, strings.ReplaceAll(head, "|", "\t")); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := fmt.Fprintln(t, strings.Join(EscapeAll(row), "\t")); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return out.Flush()
}

// Styles to pass to [Ink.In].
const (
	Bold   = "1"
	Faint  = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// An Ink determines whether text for a terminal is colored.
type Ink bool

// In returns the text in the given style or, if the Ink is false, unchanged.
func (k Ink) In(style, text string) string {
	if !k {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// TableBelow writes an empty line and then a table, like [Table].
func TableBelow(w io.Writer, fallback, head string, rows [][]string) error {
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return Table(w, fallback, head, rows)
}
