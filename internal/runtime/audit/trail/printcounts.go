package trail

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// Print writes the report to w as text. It uses name as the name of the log.
func (r *Report) Print(w io.Writer, name string) error {
	var b strings.Builder
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "%s\n", text.Escape(f.String()))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text.Escape(warning))
	}
	where := name
	if len(r.Files) > 1 {
		where += fmt.Sprintf(" and %s before it", text.Count(len(r.Files)-1, "file"))
	}
	changed := ""
	if !r.OK() {
		changed = "changed; "
	}
	fmt.Fprintf(&b, "%s: %s%s intact\n", where, changed, Records(r.Records))
	if r.Removed != nil {
		fmt.Fprintf(&b, "%s: %s\n", where, r.Removed)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Print writes the counts as tables.
func (c *Counts) Print(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s, %s opened", Records(c.Records), text.Count(c.Sessions, "session")); err != nil {
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
	if err := text.TableBelow(w, "no calls", "TOOL|ALLOWED|REFUSED|ASKED|SUCCESS|FAILURE|UNKNOWN|P50 MS|P90|P99", rows); err != nil {
		return err
	}
	if len(c.Rules) > 0 {
		rows = list.Map(c.Rules, func(r RuleStats) []string { return []string{strconv.Itoa(r.Refused), r.Kind, r.Net, r.Rule} })
		if err := text.TableBelow(w, "", "REFUSED|KIND|NET|RULE", rows); err != nil {
			return err
		}
	}
	if len(c.Approvals) > 0 {
		rows = list.Map(c.Approvals, func(a ApprovalStats) []string {
			return []string{a.Actor, a.Channel, strconv.Itoa(a.Allowed), strconv.Itoa(a.Denied)}
		})
		return text.TableBelow(w, "", "ACTOR|CHANNEL|ALLOWED|DENIED", rows)
	}
	return nil
}
