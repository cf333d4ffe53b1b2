package rules

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/petrigate/petrigate/gate"
)

// Format returns a rules file in canonical form. It prints statements with their String methods,
// merges consecutive blank lines, and aligns the comments that follow statements on neighboring
// lines. It preserves all comments, the order of the lines, and the meaning of the file. If the
// file has errors, Format returns no text and an [ErrorList] whose positions have no file name.
func Format(src []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', tabwriter.StripEscape) // \xff keeps tabwriter from splitting text into cells
	var errs ErrorList
	gap, written := false, false
	place := func(line, column int) gate.Position { return gate.Position{Line: line, Column: column} }
	for _, s := range scanLines(src, place) {
		p := parser{line: s}
		statement := p.statement()
		if s.err != nil {
			errs = append(errs, s.err)
			continue
		}
		comment := strings.TrimRightFunc(s.text[s.skip(s.off):], isSeparator)
		if statement == nil && comment == "" {
			gap = written
			continue
		}
		if gap {
			_, _ = fmt.Fprintln(w)
		}
		gap, written = false, true
		switch {
		case statement == nil:
			_, _ = fmt.Fprintf(w, "\xff%s\xff\n", comment)
		case comment == "":
			_, _ = fmt.Fprintf(w, "\xff%s\xff\n", statement)
		default:
			_, _ = fmt.Fprintf(w, "\xff%s\xff\t\xff%s\xff\n", statement, comment)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	_ = w.Flush() // writing to a buffer cannot fail
	return b.Bytes(), nil
}
