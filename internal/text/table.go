package text

import (
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
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
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
	return t.Flush()
}
