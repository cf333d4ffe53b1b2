package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes aligned columns under a head, whose titles "|" divides, or the text none
// where there are no rows. It escapes every cell.
func Table(w io.Writer, none, head string, rows [][]string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, none)
		return err
	}
	out := bufio.NewWriter(w) // a tabwriter writes each cell by itself
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(t, strings.ReplaceAll(head, "|", "\t")); err != nil {
		return err
	}
	for _, row := range rows {
		for i := range row {
			row[i] = Escape(row[i])
		}
		if _, err := fmt.Fprintln(t, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return out.Flush()
}

// Styles of [Ink.In].
const (
	Bold   = "1"
	Faint  = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// An Ink colours text at a terminal, if it is true.
type Ink bool

// In returns the text in the style.
func (k Ink) In(style, text string) string {
	if !k {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// TableBelow prints a table below an empty line.
func TableBelow(w io.Writer, none, head string, rows [][]string) error {
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return Table(w, none, head, rows)
}
