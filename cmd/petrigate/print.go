package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/petrigate/petrigate/internal/text"
)

func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(text.EscapeJSON(b.Bytes()))
	return err
}

// printAnswer writes the one object that a verb answers with.
func printAnswer(w io.Writer, name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return printJSON(w, json.RawMessage(fmt.Sprintf(`{"version":1,%q:%s}`, name, b.Bytes())))
}

// An ink colours text where that is wanted.
type ink bool

func newInk(w io.Writer) ink {
	return ink(isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

func (k ink) in(style, text string) string {
	if !k {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// number is a count with its noun.
func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// table writes aligned columns, or what is said where there are none.
func table(w io.Writer, none, head string, rows [][]string) error {
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
			row[i] = text.Escape(row[i])
		}
		if _, err := fmt.Fprintln(t, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

func allEscaped(texts []string) []string {
	out := make([]string, len(texts))
	for i, each := range texts {
		out[i] = text.Escape(each)
	}
	return out
}
