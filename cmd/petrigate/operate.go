package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

var errNoProxy = errors.New("no running proxy was found; one is started by petrigate serve, or by an MCP client that is configured for it")

// running lists the proxies of this user that answer.
func running() ([]*control.Client, error) {
	found, err := control.Find(daemon.RuntimeDir())
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errNoProxy
	}
	return found, nil
}

// theProxy is the one that is meant where several running proxies have
// something that is to be changed. No pid is 0.
func theProxy(having []*control.Client, pid int, what string) (*control.Client, error) {
	var choices []string
	for _, client := range having {
		status, err := client.Status()
		if err != nil {
			return nil, err
		}
		if status.Pid == pid || pid == 0 && len(having) == 1 {
			return client, nil
		}
		choices = append(choices, fmt.Sprintf("--proxy %d (%s)", status.Pid, cmp.Or(status.Config, "no configuration file")))
	}
	if pid != 0 {
		return nil, usage("no running proxy with the process id %d has %s; choose one of: %s", pid, what, strings.Join(choices, ", "))
	}
	return nil, usage("%d running proxies have %s; choose one of: %s", len(having), what, strings.Join(choices, ", "))
}

// pidOf is the process of a running proxy, asked once.
func pidOf(client *control.Client, known map[*control.Client]int) (int, error) {
	if pid, ok := known[client]; ok {
		return pid, nil
	}
	status, err := client.Status()
	return status.Pid, err
}

// tableOf is a table of what several proxies have: its last column, the process,
// is there where it tells them apart.
func tableOf(w io.Writer, proxies int, none, head string, rows [][]string) error {
	if proxies > 1 {
		return text.Table(w, none, head+"|PROXY", rows)
	}
	for i, row := range rows {
		rows[i] = row[:len(row)-1]
	}
	return text.Table(w, none, head, rows)
}

// ambiguous says that a prefix of an id does not name one thing.
func ambiguous(what, prefix string, hits int, list string) error {
	if hits == 0 {
		return fmt.Errorf("no %s has an id that begins with %q; %s lists them", what, prefix, list)
	}
	return fmt.Errorf("%s have an id that begins with %q; %s lists them", text.Count(hits, what), prefix, list)
}

// group is a verb that only holds others. Alone it does what the first of them
// does, which lists.
func group(use, short string, ls *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: ls.RunE}
	c.Flags().AddFlagSet(ls.Flags())
	c.AddCommand(ls)
	c.AddCommand(subs...)
	return c
}

func sayWhich(c *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return usage("%s requires one of: %s", c.CommandPath(), strings.Join(names, ", "))
}

func newStatus(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "Show the running proxies", Args: cobra.NoArgs}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(*cobra.Command, []string) error {
		found, err := running()
		if err != nil {
			return err
		}
		var all []proxy.Status
		for _, client := range found {
			status, err := client.Status()
			if err != nil {
				return err
			}
			all = append(all, status)
		}
		if *asJSON {
			return printAnswer(s.out, "proxies", all)
		}
		for _, status := range all {
			printStatus(s.out, status)
		}
		return nil
	}
	return c
}

func printStatus(w io.Writer, status proxy.Status) {
	_, _ = fmt.Fprintf(w, "petrigate %s, pid %d, up %s: %s, %s, %s waiting\n", status.Version, status.Pid, age(status.Started),
		text.Count(status.Tools, "tool"), text.Count(status.Sessions, "session"), text.Count(status.Waiting, "approval"))
	_, _ = fmt.Fprintf(w, "  %s; clients at %s\n", cmp.Or(status.Config, "no configuration file"), cmp.Or(status.Listen, "no place yet"))
	if status.Shadow {
		_, _ = fmt.Fprintln(w, "  in shadow: every call passes; petrigate sessions shadow says what would have been refused")
	}
	for _, u := range status.Upstreams {
		printUpstream(w, u)
	}
	for _, left := range status.LeftOut {
		_, _ = fmt.Fprintf(w, "  left out: %s\n", left)
	}
	for _, warning := range status.Warnings {
		_, _ = fmt.Fprintf(w, "  warning: %s\n", warning)
	}
}

// printUpstream writes a line about an upstream of a running proxy, and what
// its process said last where it is not up.
func printUpstream(w io.Writer, u proxy.UpstreamStatus) {
	line := "  upstream " + u.Name + " is " + u.State
	if u.Protocol != "" && u.State == "up" {
		line += ", protocol " + u.Protocol
	}
	if u.Sessions > 0 {
		line += ", and " + text.Count(u.Sessions, "session") + " of its own"
	}
	if u.Error != "" {
		line += ": " + u.Error
	}
	_, _ = fmt.Fprintln(w, line+daemon.LastWords(u, "      "))
}

// age is how long ago something was, for people.
func age(since time.Time) string { return time.Since(since).Round(time.Second).String() }
