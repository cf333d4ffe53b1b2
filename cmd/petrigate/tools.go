package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
)

func newTools(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of the running proxies, with their names and current verdicts",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(toolsDiff(s), toolsAccept(s))
	session := c.Flags().String("session", "", "show verdicts in the session with this `ID` (default: the only session, else a new one)")
	return answering(c, s, "tools", func([]string) (any, func() error, error) {
		lists, err := listTools(*session)
		return joined(lists), func() error {
			warnOfTools(s)
			return printTools(s.out, lists)
		}, err
	})
}

// listTools asks the proxy that has the session for its tools. If session is empty, it asks all
// proxies.
func listTools(session string) ([]listing[operator.ToolInfo], error) {
	if session == "" {
		return listings(func(client *control.Client) ([]operator.ToolInfo, error) { return client.Tools("") })
	}
	o, err := findSession(session)
	if err != nil {
		return nil, err
	}
	tools, err := o.client.Tools(o.it.ID)
	return []listing[operator.ToolInfo]{{all: tools}}, err
}

// printTools prints a table of the tools with the current verdict on each, followed by the session
// that the verdicts apply to.
func printTools(w io.Writer, lists []listing[operator.ToolInfo]) error {
	err := printListings(w, lists, "no tools", "CANONICAL|BARE|EXPOSED|NOW", func(t operator.ToolInfo) []string {
		return []string{t.Canonical, t.Bare, t.Exposed, t.Says}
	})
	gap := "\n" // blank line between the table and the first line of text
	for _, of := range lists {
		if len(of.all) == 0 || err != nil {
			continue
		}
		where := ""
		if len(lists) > 1 {
			where = fmt.Sprintf(" of proxy %d", of.pid)
		}
		if id := of.all[0].Session; id != "" {
			_, err = fmt.Fprintf(w, "%sNOW is the verdict in session %s%s.\n", gap, text.Escape(id), where)
		} else {
			_, err = fmt.Fprintf(w, "%sNOW is the verdict in a new session%s; use --session ID for one that petrigate sessions lists.\n", gap, where)
		}
		gap = ""
	}
	return err
}

// warnOfTools prints the warnings that running proxies have about their tools. It ignores proxies
// that have stopped responding, because the tools themselves have already been printed.
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
