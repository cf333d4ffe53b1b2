package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newTools(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of the running proxies, with their names and present verdicts",
		Args:  cobra.NoArgs,
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	session := c.Flags().String("session", "", "say what holds in the session of this `ID` (default: the only one, else one that begins now)")
	c.RunE = func(*cobra.Command, []string) error {
		proxies, err := listTools(*session)
		if err != nil {
			return err
		}
		if *asJSON {
			all := []proxy.ToolInfo{}
			for _, of := range proxies {
				all = append(all, of.tools...)
			}
			return printAnswer(s.out, "tools", all)
		}
		warnOfTools(s)
		return printTools(s.out, proxies)
	}
	return c
}

// toolsOf are the tools of a running proxy.
type toolsOf struct {
	pid   int
	tools []proxy.ToolInfo
}

// listTools asks the proxy that has the session, or all of them.
func listTools(session string) ([]toolsOf, error) {
	if session != "" {
		o, err := findSession(session)
		if err != nil {
			return nil, err
		}
		tools, err := o.client.Tools(o.ID)
		return []toolsOf{{0, tools}}, err
	}
	found, err := running()
	if err != nil {
		return nil, err
	}
	var all []toolsOf
	for _, client := range found {
		tools, err := client.Tools("")
		if err != nil {
			return nil, err
		}
		status, err := client.Status()
		if err != nil {
			return nil, err
		}
		all = append(all, toolsOf{status.Pid, tools})
	}
	return all, nil
}

// printTools writes the table, and of which sessions it speaks.
func printTools(w io.Writer, proxies []toolsOf) error {
	var rows [][]string
	for _, of := range proxies {
		for _, t := range of.tools {
			rows = append(rows, []string{t.Canonical, t.Bare, t.Exposed, t.Says, strconv.Itoa(of.pid)})
		}
	}
	if err := tableOf(w, len(proxies), "no tools", "CANONICAL|BARE|EXPOSED|NOW", rows); err != nil || len(rows) == 0 {
		return err
	}
	_, err := fmt.Fprintln(w)
	for _, of := range proxies {
		if len(of.tools) == 0 || err != nil {
			continue
		}
		where := ""
		if len(proxies) > 1 {
			where = fmt.Sprintf(" of proxy %d", of.pid)
		}
		if id := of.tools[0].Session; id != "" {
			_, err = fmt.Fprintf(w, "NOW is what holds in session %s%s.\n", text.Escape(id), where)
		} else {
			_, err = fmt.Fprintf(w, "NOW is what holds in a session%s that begins now; --session ID says it of one that petrigate sessions lists.\n", where)
		}
	}
	return err
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
