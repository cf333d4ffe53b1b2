package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

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
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(_ *cobra.Command, args []string) error {
		reports, err := shadows(args)
		if err != nil {
			return err
		}
		if *asJSON {
			return printAnswer(s.out, "shadows", reports)
		}
		for _, r := range reports {
			if err := printShadow(s.out, r); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// shadows are the reports of the running proxies, or of one session.
func shadows(args []string) ([]proxy.ShadowInfo, error) {
	if len(args) == 1 {
		o, err := findSession(args[0])
		if err != nil {
			return nil, err
		}
		r, err := o.client.Shadow(o.ID)
		return []proxy.ShadowInfo{r}, err
	}
	found, err := running()
	if err != nil {
		return nil, err
	}
	var all []proxy.ShadowInfo
	for _, client := range found {
		r, err := client.Shadow("")
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
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
		rows = append(rows, []string{fmt.Sprint(a.Count), a.Decision, a.Tool, strings.Join(a.Nets, ", "), strings.Join(a.Rules, ", "), a.Reason})
	}
	if len(rows) > 0 {
		if err := text.Table(w, "", "TIMES|WOULD|TOOL|NETS|RULES|REASON", rows); err != nil {
			return err
		}
	}
	for _, n := range r.Nets {
		if n.Parted {
			_, _ = fmt.Fprintf(w, "session %s: %s is at %s; %s\n", n.Session, n.Net, emptyMarking(n.Actual), shadowState(n.NetShadow))
		}
	}
	return nil
}

// shadowState is what a net in shadow would be, and whether that is another
// state than its own.
func shadowState(n proxy.NetShadow) string {
	parts := "the same"
	if n.Parted {
		parts = emptyMarking(n.Enforced) + ", which is another marking"
	}
	return fmt.Sprintf("had it blocked, %s; it would have refused %s and asked about %s", parts, text.Count(n.Refused, "call"), text.Count(n.Asked, "call"))
}

// emptyMarking is a marking for people, who would miss one without tokens.
func emptyMarking(m string) string {
	if m == "" {
		return "no tokens"
	}
	return m
}
