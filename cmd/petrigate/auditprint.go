package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/audit/trail"
	"github.com/petrigate/petrigate/internal/text"
)

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
