package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newTools(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of the running proxies, their names, and what the rules say of them now",
		Args:  cobra.NoArgs,
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	session := c.Flags().String("session", "", "say what holds in the session of this `ID` (default: the only one, else one that begins now)")
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
			rows = append(rows, []string{t.Canonical, t.Bare, t.Exposed, t.Says})
		}
		if err := table(s.out, "no tools", "CANONICAL|BARE|EXPOSED|NOW", rows); err != nil {
			return err
		}
		return sayWhose(s.out, tools)
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

// sayWhose says of which sessions it was told what becomes of calls.
func sayWhose(w io.Writer, tools []proxy.ToolInfo) error {
	said := make(map[string]bool)
	for _, t := range tools {
		if said[t.Session] {
			continue
		}
		said[t.Session] = true
		line := "\nNOW is what holds in session " + text.Escape(t.Session) + "."
		if t.Session == "" {
			line = "\nNOW is what holds in a session that begins now; --session ID says it of one that petrigate sessions lists."
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
