package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/petrigate/petrigate/internal/policy"
)

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printProblems writes each problem with its source line.
func printProblems(w io.Writer, problems policy.Problems) {
	for _, p := range problems {
		_, _ = fmt.Fprintf(w, "%s: %s[%s]: %s\n", location(p), p.Severity, p.Code, p.Message)
		if p.Excerpt != "" {
			_, _ = fmt.Fprintln(w, strings.TrimRight(p.Excerpt, "\n"))
		}
		if p.Hint != "" {
			_, _ = fmt.Fprintf(w, "  help: %s\n", p.Hint)
		}
	}
}

func location(p policy.Problem) string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	case p.File != "":
		return p.File
	default:
		return "policy"
	}
}

// table writes aligned columns.
func table(w io.Writer, head string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(t, strings.ReplaceAll(head, "|", "\t")); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := fmt.Fprintln(t, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}
