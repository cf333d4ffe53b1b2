package shadow

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// Print writes what nets in shadow would have done.
func Print(w io.Writer, r proxy.ShadowInfo) error {
	what := "the nets in shadow"
	if r.Policy {
		what = "the policy, which is in shadow,"
	}
	if _, err := fmt.Fprintf(w, "%s would have refused %s and asked about %s\n", what, text.Count(r.Refused, "call"), text.Count(r.Asked, "call")); err != nil {
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

// printWould writes what would have been refused, or asked about; nothing where nothing would.
func printWould(w io.Writer, all []proxy.WouldInfo) error {
	var rows [][]string
	for _, a := range all {
		from := a.Rules
		if len(from) == 0 {
			from = a.Nets // that were written by hand
		}
		rows = append(rows, []string{fmt.Sprint(a.Count), a.Decision, a.Tool, strings.Join(from, ", "), a.Reason})
	}
	if len(rows) == 0 {
		return nil
	}
	return text.Table(w, "", "TIMES|WOULD|TOOL|RULE OR NET|REASON", rows)
}

// State is what a net in shadow would be, and whether that is another
// state than its own.
func State(n proxy.NetShadow) string {
	parts := "the same"
	if n.Parted {
		parts = cmp.Or(n.Enforced, noTokens) + ", which is another marking"
	}
	return fmt.Sprintf("had it blocked, %s; it would have refused %s and asked about %s", parts, text.Count(n.Refused, "call"), text.Count(n.Asked, "call"))
}

// noTokens is a marking without tokens, which is an empty string otherwise.
const noTokens = "no tokens"
