package shadow

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// Print prints what nets in shadow would have done.
func Print(w io.Writer, r operator.ShadowInfo) error {
	what := "the nets in shadow mode"
	if r.Policy {
		what = "the policy in shadow mode"
	}
	if _, err := fmt.Fprintf(w, "%s would have refused %s and required approval for %s\n", what, text.Count(r.Refused, "call"), text.Count(r.Asked, "call")); err != nil {
		return err
	}
	if err := printWould(w, r.Would); err != nil {
		return err
	}
	for _, n := range r.Nets {
		if n.Parted {
			_, _ = fmt.Fprintf(w, "session %s: %s is at %s, and would be at %s\n", n.Session, n.Net, cmp.Or(n.Actual, noTokens), cmp.Or(n.Enforced, noTokens))
		}
	}
	return nil
}

// maxLastCall is the maximum length of the call shown in a table row, so that the reason stays
// visible.
const maxLastCall = 80

// printWould prints the calls that would have been refused or asked about, if there are any. The
// table has a column for the last call of each row if the arguments of at least one are recorded.
func printWould(w io.Writer, all []operator.WouldInfo) error {
	if len(all) == 0 {
		return nil
	}
	head, calls := "TIMES|WOULD|TOOL|RULE OR NET|REASON", lastCalls(all)
	if calls != nil {
		head = "TIMES|WOULD|TOOL|LAST CALL|RULE OR NET|REASON"
	}
	rows := make([][]string, len(all))
	for i, a := range all {
		from := a.Rules
		if len(from) == 0 {
			from = a.Nets // hand-written nets
		}
		rows[i] = []string{fmt.Sprint(a.Count), a.Decision, a.Tool}
		if calls != nil {
			rows[i] = append(rows[i], calls[i])
		}
		rows[i] = append(rows[i], strings.Join(from, ", "), a.Reason)
	}
	return text.Table(w, "", head, rows)
}

// lastCalls returns the command or the arguments of the last call of each row, on one line, or nil
// if no arguments are recorded.
func lastCalls(all []operator.WouldInfo) (calls []string) {
	for i := range all {
		does := text.Excerpt(text.Command(all[i].Arguments), maxLastCall)
		if does == "" {
			continue
		}
		if calls == nil {
			calls = slices.Repeat([]string{"-"}, len(all))
		}
		calls[i] = does
	}
	return calls
}

// State describes the marking that a net in shadow would have if it were enforced, and whether it
// differs from the real one.
func State(n operator.NetShadow) string {
	parts := "the same"
	if n.Parted {
		parts = cmp.Or(n.Enforced, noTokens) + ", a different marking"
	}
	return fmt.Sprintf("if enforced, %s; it would have refused %s and required approval for %s", parts, text.Count(n.Refused, "call"), text.Count(n.Asked, "call"))
}

// noTokens stands for an empty marking, which is an empty string.
const noTokens = "no tokens"
