package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

// A recordPrinter prints records, a line each.
type recordPrinter struct {
	w       io.Writer
	json    bool
	printed int
}

func newRecordPrinter(w io.Writer, json bool) *recordPrinter { return &recordPrinter{w: w, json: json} }

func (p *recordPrinter) print(r *trail.Record) error {
	p.printed++
	if p.json {
		_, err := p.w.Write(recordJSON(r))
		return err
	}
	if p.printed == 1 {
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
	_, err = fmt.Fprintln(p.w, recordLine(e.Time.Local().Format("2006-01-02 15:04:05.000"), e.Session, call, entryTool(&e), entrySays(&e)))
	return err
}

func recordLine(when, session, call, tool, what string) string {
	line := fmt.Sprintf("%-23s  %-14s %5s  %-24s %s", when, text.Escape(session), call, text.Escape(tool), text.Escape(what))
	return strings.TrimRight(line, " ")
}

// recordJSON is the event with its number.
func recordJSON(r *trail.Record) []byte {
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

// entryTool names the tool with its upstream.
func entryTool(e *trail.Entry) string {
	if e.Upstream == "" || strings.HasPrefix(e.Tool, e.Upstream+".") {
		return e.Tool
	}
	return e.Upstream + "." + e.Tool
}

// entrySays is a record in a few words.
func entrySays(e *trail.Entry) string {
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

// auditCounts is what stats answers with.
type auditCounts struct {
	Records   uint64                `json:"records"`
	From      string                `json:"from,omitempty"`
	To        string                `json:"to,omitempty"`
	Sessions  int                   `json:"sessions"`
	Tools     []trail.ToolStats     `json:"tools"`
	Rules     []trail.RuleStats     `json:"rules"`
	Approvals []trail.ApprovalStats `json:"approvals"`
}

func auditStats(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "stats", Short: "Count calls, refusals and approvals",
		Long: "stats counts the calls of each tool by how they were decided and how they ended, with the quantiles of how\n" +
			"long they took (to a twentieth), the refusals by rule, and the answers of people.",
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	return onRecords(c, func(ctx context.Context, log *auditLog, f *trail.Filter) error {
		var stats trail.Stats
		for r, err := range log.Records(ctx, f) {
			if err != nil {
				return err
			}
			if e, ok := f.Select(&r); ok {
				stats.Add(&e)
			}
		}
		stats.Sum()
		counts := auditCounts{Records: stats.Records, Sessions: stats.Sessions, Tools: stats.Tools, Rules: stats.Rules, Approvals: stats.Approvals}
		if stats.Records > 0 {
			counts.From, counts.To = stats.From.UTC().Format(timeStamp), stats.To.UTC().Format(timeStamp)
		}
		if *asJSON {
			return printAnswer(s.out, "audit", counts)
		}
		return printCounts(s.out, &counts)
	})
}

const timeStamp = "2006-01-02T15:04:05Z"

func printCounts(w io.Writer, c *auditCounts) error {
	if _, err := fmt.Fprintf(w, "%s, %s opened", records(c.Records), text.Count(c.Sessions, "session")); err != nil {
		return err
	}
	if c.From != "" {
		_, _ = fmt.Fprintf(w, ", from %s to %s", c.From, c.To)
	}
	_, _ = fmt.Fprintln(w)
	rows := [][]string{}
	ms := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	for i := range c.Tools {
		t := &c.Tools[i]
		row := []string{t.Tool, strconv.Itoa(t.Allowed), strconv.Itoa(t.Refused), strconv.Itoa(t.Asked), strconv.Itoa(t.Success), strconv.Itoa(t.Failure), strconv.Itoa(t.Unknown), "", "", ""}
		if t.Latency.Count > 0 {
			row[7], row[8], row[9] = ms(t.Latency.P50), ms(t.Latency.P90), ms(t.Latency.P99)
		}
		rows = append(rows, row)
	}
	if err := printTable(w, "no calls", "TOOL|ALLOWED|REFUSED|ASKED|SUCCESS|FAILURE|UNKNOWN|P50 MS|P90|P99", rows); err != nil {
		return err
	}
	if rows = rows[:0]; len(c.Rules) > 0 {
		for _, r := range c.Rules {
			rows = append(rows, []string{strconv.Itoa(r.Refused), r.Kind, r.Net, r.Rule})
		}
		if err := printTable(w, "", "REFUSED|KIND|NET|RULE", rows); err != nil {
			return err
		}
	}
	if rows = [][]string{}; len(c.Approvals) > 0 {
		for _, a := range c.Approvals {
			rows = append(rows, []string{a.Actor, a.Channel, strconv.Itoa(a.Allowed), strconv.Itoa(a.Denied)})
		}
		return printTable(w, "", "ACTOR|CHANNEL|ALLOWED|DENIED", rows)
	}
	return nil
}

// printTable prints a table below an empty line.
func printTable(w io.Writer, none, head string, rows [][]string) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return text.Table(w, none, head, rows)
}
