package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Report holds the findings of all checks.
type Report struct {
	OK       bool      `json:"ok"` // whether no check failed; warnings are allowed
	Failed   int       `json:"failed"`
	Warnings int       `json:"warnings"`
	Checks   []Finding `json:"checks"`
}

func report(all []Finding) Report {
	r := Report{Checks: all}
	for _, f := range all {
		switch f.Status {
		case Failed:
			r.Failed++
		case Warning:
			r.Warnings++
		}
	}
	r.OK = r.Failed == 0
	return r
}

// Print prints each finding on its own line, followed by its fix. A summary comes last.
func (r *Report) Print(w io.Writer, ink text.Ink) error {
	var b strings.Builder
	fixable := 0
	for _, f := range r.Checks {
		fmt.Fprintf(&b, "%s  %-11s  %s\n", mark(f.Status, ink), f.Check, indented(f.Says))
		if f.Fix != "" {
			fmt.Fprintf(&b, "%24sfix: %s\n", "", indented(f.Fix))
		}
		if f.Fixable {
			fixable++
		}
	}
	fmt.Fprintf(&b, "%s: %d failed, %s", text.Count(len(r.Checks), "check"), r.Failed, text.Count(r.Warnings, "warning"))
	if fixable > 0 {
		fmt.Fprintf(&b, "; petrigate doctor --fix can fix %d", fixable)
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// indented escapes the lines of s for the terminal and indents all but the first.
func indented(s string) string {
	lines := text.EscapeAll(strings.Split(strings.TrimSpace(s), "\n"))
	return strings.Join(lines, "\n"+strings.Repeat(" ", 24))
}

func mark(status string, ink text.Ink) string {
	style := map[string]string{Failed: text.Red, Warning: text.Yellow, OK: text.Green}[status]
	return ink.In(style, fmt.Sprintf("%-7s", status))
}
