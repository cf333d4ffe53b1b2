package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/proxy"
)

func newTools(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of the running proxies, their names, and what the rules say of them now",
		Args:  cobra.NoArgs,
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	session := c.Flags().String("session", "", "say what holds in the session of this `ID` (default: in one that begins now)")
	c.RunE = func(*cobra.Command, []string) error {
		tools, err := listTools(*session)
		if err != nil {
			return err
		}
		if *asJSON {
			return printAnswer(s.out, "tools", tools)
		}
		warnOfTools(s)
		var rows [][]string
		for _, t := range tools {
			rows = append(rows, []string{t.Canonical, t.Bare, t.Exposed, verdicts(t.Nets)})
		}
		return table(s.out, "no tools", "CANONICAL|BARE|EXPOSED|NOW", rows)
	}
	return c
}

// listTools asks the proxy that has the session, or all of them.
func listTools(session string) ([]proxy.ToolInfo, error) {
	all := []proxy.ToolInfo{}
	if session != "" {
		o, err := findSession(session)
		if err != nil {
			return nil, err
		}
		return o.client.Tools(o.ID)
	}
	found, err := running()
	if err != nil {
		return nil, err
	}
	for _, client := range found {
		tools, err := client.Tools("")
		if err != nil {
			return nil, err
		}
		all = append(all, tools...)
	}
	return all, nil
}

// warnOfTools says what the running proxies find doubtful of their tools. That
// one does not answer any more is no reason to fail: its tools were told.
func warnOfTools(s stdio) {
	found, err := running()
	if err != nil {
		return
	}
	for _, client := range found {
		status, err := client.Status()
		if err != nil {
			continue
		}
		for _, warning := range status.Warnings {
			_, _ = fmt.Fprintln(s.err, "petrigate: warning:", warning)
		}
	}
}

func verdicts(nets []proxy.ToolVerdict) string {
	if len(nets) == 0 {
		return "passes"
	}
	var parts []string
	for _, n := range nets {
		part := n.Verdict + " by " + n.Net
		switch n.Verdict {
		case "gated": // a person may have to be asked first
			part = "may pass " + n.Net
		case "free":
			part = "free in " + n.Net
		}
		if n.Rule != "" {
			part += fmt.Sprintf(" (%s)", n.Rule)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
