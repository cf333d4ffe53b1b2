package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func sessionsShadow(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "shadow [ID]", Short: "Show what nets in shadow would have refused, and where their markings differ", Args: cobra.MaximumNArgs(1),
		Long: "shadow reports on the nets in shadow, which let every call pass: what they would have refused or asked a\n" +
			"person about, how often, and where the marking that the calls led to is not the one that they would have\n" +
			"had. Without a session it counts all of them since the proxy started, those that have ended too.",
	}
	return answering(c, s, "shadows", func(args []string) (any, func() error, error) {
		reports, err := shadows(args)
		return reports, func() error {
			for _, r := range reports {
				if err := printShadow(s.out, r); err != nil {
					return err
				}
			}
			return nil
		}, err
	})
}

// shadows are the reports of the running proxies, or of one session.
func shadows(args []string) ([]proxy.ShadowInfo, error) {
	if len(args) == 0 {
		return ask(func(client *control.Client) (proxy.ShadowInfo, error) { return client.Shadow("") })
	}
	o, err := findSession(args[0])
	if err != nil {
		return nil, err
	}
	r, err := o.client.Shadow(o.it.ID)
	return []proxy.ShadowInfo{r}, err
}

func printShadow(w io.Writer, r proxy.ShadowInfo) error {
	what := "the nets in shadow"
	if r.Policy {
		what = "the policy, which is in shadow,"
	}
	if _, err := fmt.Fprintf(w, "%s would have refused %s and asked about %s\n", what, text.Count(r.Refused, "call"), text.Count(r.Asked, "call")); err != nil {
		return err
	}
	var rows [][]string
	for _, a := range r.Would {
		from := a.Rules
		if len(from) == 0 {
			from = a.Nets // that were written by hand
		}
		rows = append(rows, []string{fmt.Sprint(a.Count), a.Decision, a.Tool, strings.Join(from, ", "), a.Reason})
	}
	if len(rows) > 0 {
		if err := text.Table(w, "", "TIMES|WOULD|TOOL|RULE OR NET|REASON", rows); err != nil {
			return err
		}
	}
	for _, n := range r.Nets {
		if n.Parted {
			_, _ = fmt.Fprintf(w, "session %s: %s is at %s, and would be at %s\n", n.Session, n.Net, cmp.Or(n.Actual, noTokens), cmp.Or(n.Enforced, noTokens))
		}
	}
	return nil
}

// shadowState is what a net in shadow would be, and whether that is another
// state than its own.
func shadowState(n proxy.NetShadow) string {
	parts := "the same"
	if n.Parted {
		parts = cmp.Or(n.Enforced, noTokens) + ", which is another marking"
	}
	return fmt.Sprintf("had it blocked, %s; it would have refused %s and asked about %s", parts, text.Count(n.Refused, "call"), text.Count(n.Asked, "call"))
}

// noTokens is a marking without tokens, which is an empty string otherwise.
const noTokens = "no tokens"
