package trail

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Printer prints records as lines of text or as JSON.
type Printer struct {
	w       io.Writer
	json    bool
	Printed int // number of records printed
}

// NewPrinter returns a printer that writes to w, in JSON if json is true.
func NewPrinter(w io.Writer, json bool) *Printer { return &Printer{w: w, json: json} }

// Print prints a record.
func (p *Printer) Print(r *Record) error {
	p.Printed++
	if p.json {
		_, err := p.w.Write(recordJSON(r))
		return err
	}
	if p.Printed == 1 {
		if _, err := fmt.Fprintln(p.w, recordLine("TIME", "SESSION", "CALL", "TOOL", "WHAT")); err != nil {
			return err
		}
	}
	e, err := r.Entry()
	if err != nil {
		_, err := fmt.Fprintf(p.w, "record %d cannot be read\n", r.Seq)
		return err
	}
	call := ""
	if e.Call > 0 {
		call = "#" + strconv.FormatUint(e.Call, 10)
	}
	_, err = fmt.Fprintln(p.w, recordLine(e.Time.Local().Format("2006-01-02 15:04:05.000"), e.Session, call, e.Canonical(), summarize(&e)))
	return err
}

func recordLine(when, session, call, tool, what string) string {
	line := fmt.Sprintf("%-23s  %-16s %5s  %-24s %s", when, text.Escape(session), call, text.Escape(tool), text.Escape(what))
	return strings.TrimRight(line, " ")
}

// recordJSON returns the record as a line of JSON, including its number and writer.
func recordJSON(r *Record) []byte {
	line := fmt.Appendf(nil, `{"seq":%d`, r.Seq)
	if r.Writer != "" {
		line = fmt.Appendf(line, `,"writer":%q`, r.Writer)
	}
	if rest := bytes.TrimSpace(r.Event[1:]); len(rest) > 1 {
		line = append(append(line, ','), rest...)
	} else {
		line = append(line, '}')
	}
	return append(text.EscapeJSON(line), '\n')
}

// summarize summarizes a record for display.
func summarize(e *Entry) string {
	var words []string
	add := func(format, word string) {
		if word != "" {
			words = append(words, fmt.Sprintf(format, word))
		}
	}
	switch e.Event {
	case "decision":
		add("%s", e.Decision.Decision)
		if e.Decision.Decision != "allow" {
			add("(%s)", e.Kind)
		}
		add("`%s`", text.Excerpt(text.Command(e.Args), 120))
		add("by %s", e.Actor)
		add("%s", text.Excerpt(e.Reason, 120))
		if e.Would != nil {
			add("in shadow: %s", e.Would.Decision)
		}
	case "outcome":
		add("%s", e.Outcome)
		add("in %s ms", strconv.FormatFloat(e.Millis, 'f', -1, 64))
		add("by %s", e.By)
	case "answer":
		add("%s, not counted", e.Said)
		add("(%s)", e.Kind)
		add("by %s", e.Actor)
		add("%s", text.Excerpt(e.Reason, 120))
	default:
		add("%s", e.Event)
		add("%s", cmp.Or(e.Net, e.Task))
		add("of %s", e.Principal)
		add("by %s", e.Actor)
		add("%s", e.Reason)
		add("process %s", e.Process)
		if len(e.Policy) > 12 {
			add("policy %s", e.Policy[:12])
		}
	}
	return strings.Join(words, " ")
}
