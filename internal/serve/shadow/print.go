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

// Print prints the effects that the nets in shadow mode would have had if they had been enforced:
// the number of calls that they would have refused, the number of calls that would have required
// approval, and the reasons. It also prints the nets whose marking would be different.
func Print(w io.Writer, r operator.ShadowInfo) error {
	what := "the nets in shadow mode"
	if r.Policy {
		what = "the policy in shadow mode"
	}
	if _, err := fmt.Fprintf(w, "%s would have refused %s and required approval for %s\n", what, text.Count(r.Refused, "call"), text.Count(r.Asked, "call")); err != nil {
		return err
	}
	if err := printVerdicts(w, r.Would); err != nil {
		return err
	}
	for _, n := range r.Nets {
		if n.Parted {
			_, _ = fmt.Fprintf(w, "session %s: %s is at %s, and would be at %s\n", n.Session, n.Net, cmp.Or(n.Actual, noTokens), cmp.Or(n.Enforced, noTokens))
		}
	}
	return nil
}

// maxLastCall is the maximum number of bytes to show in the LAST CALL column. It leaves room for
// the REASON column.
const maxLastCall = 80

// printVerdicts prints a table of the decisions that nets in shadow mode would have made. If any
// arguments are recorded, the table also shows the last call affected by each decision.
func printVerdicts(w io.Writer, all []operator.WouldInfo) error {
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
			from = a.Nets // a hand-written net has no rules
		}
		rows[i] = []string{fmt.Sprint(a.Count), a.Decision, a.Tool}
		if calls != nil {
			rows[i] = append(rows[i], calls[i])
		}
		rows[i] = append(rows[i], strings.Join(from, ", "), a.Reason)
	}
	return text.Table(w, "", head, rows)
}

// lastCalls returns one line for each decision: the command or the arguments of the last call
// affected by the decision. If no arguments are recorded, it returns nil.
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

// State returns a phrase that describes what would be different if the net were enforced: the net's
// marking, and how many calls it would have refused or sent to a person for approval.
func State(n operator.NetShadow) string {
	parts := "the same"
	if n.Parted {
		parts = cmp.Or(n.Enforced, noTokens) + ", a different marking"
	}
	return fmt.Sprintf("if enforced, %s; it would have refused %s and required approval for %s", parts, text.Count(n.Refused, "call"), text.Count(n.Asked, "call"))
}

const noTokens = "no tokens"
