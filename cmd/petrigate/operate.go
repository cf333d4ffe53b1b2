package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/control"
	"github.com/petrigate/petrigate/proxy"
)

var errNoProxy = errors.New("no running proxy was found; one is started by petrigate serve, or by an MCP client that is configured for it")

// running lists the proxies of this user that answer.
func running() ([]*control.Client, error) {
	found, err := control.Find(runtimeDir())
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errNoProxy
	}
	return found, nil
}

// group is a verb that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return &exit{exitUsage, fmt.Errorf("say which: %s", verbs(c))}
	}
	c.AddCommand(subs...)
	return c
}

func verbs(c *cobra.Command) string {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, c.CommandPath()+" "+sub.Name())
	}
	return strings.Join(names, ", ")
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
			return printJSON(s.out, map[string]any{"version": 1, "proxies": all})
		}
		for _, status := range all {
			printStatus(s, status)
		}
		return nil
	}
	return c
}

func printStatus(s stdio, status proxy.Status) {
	_, _ = fmt.Fprintf(s.out, "petrigate %s, pid %d, up %s: %d tools, %d sessions, %d approvals waiting\n", status.Version, status.Pid,
		time.Since(status.Started).Round(time.Second), status.Tools, status.Sessions, status.Waiting)
	for _, u := range status.Upstreams {
		_, _ = fmt.Fprintf(s.out, "  %-16s %s %s %s\n", u.Name, u.State, u.Protocol, u.Error)
	}
	for _, left := range status.LeftOut {
		_, _ = fmt.Fprintf(s.out, "  left out: %s\n", left)
	}
}

func newApprovals(s stdio) *cobra.Command {
	return group("approvals", "Answer the calls that wait for a person",
		approvalsList(s), approvalsShow(s), approvalsAnswer(s, "approve", true), approvalsAnswer(s, "deny", false))
}

// waiting is one approval with the proxy that holds it.
type waiting struct {
	proxy.ApprovalInfo
	client *control.Client
}

func approvals() ([]waiting, error) {
	found, err := running()
	if err != nil {
		return nil, err
	}
	var all []waiting
	for _, client := range found {
		list, err := client.Approvals()
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			all = append(all, waiting{a, client})
		}
	}
	return all, nil
}

func approvalsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List the approvals, those that wait first", Args: cobra.NoArgs}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(*cobra.Command, []string) error {
		all, err := approvals()
		if err != nil {
			return err
		}
		infos := []proxy.ApprovalInfo{}
		for _, pending := range []bool{true, false} {
			for _, a := range all {
				if (a.State == proxy.Pending) == pending {
					infos = append(infos, a.ApprovalInfo)
				}
			}
		}
		if *asJSON {
			return printJSON(s.out, map[string]any{"version": 1, "approvals": infos})
		}
		var rows [][]string
		for _, a := range infos {
			rows = append(rows, []string{a.ID, string(a.State), a.Upstream, a.Tool, a.Session, time.Until(a.Expires).Round(time.Second).String()})
		}
		return table(s.out, "ID|STATE|UPSTREAM|TOOL|SESSION|EXPIRES IN", rows)
	}
	return c
}

// findApproval is the one approval whose id begins with a prefix.
func findApproval(prefix string) (waiting, error) {
	all, err := approvals()
	if err != nil {
		return waiting{}, err
	}
	var hits []waiting
	for _, a := range all {
		if a.ID == prefix {
			return a, nil
		}
		if strings.HasPrefix(a.ID, prefix) {
			hits = append(hits, a)
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	return waiting{}, fmt.Errorf("%d approvals have an id that begins with %q; petrigate approvals ls lists them", len(hits), prefix)
}

func approvalsShow(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show one question, whole", Args: cobra.ExactArgs(1)}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(_ *cobra.Command, args []string) error {
		a, err := findApproval(args[0])
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(s.out, map[string]any{"version": 1, "approval": a.ApprovalInfo})
		}
		_, err = fmt.Fprintf(s.out, "%s\nState: %s\n", a.Question, a.State)
		return err
	}
	return c
}

func approvalsAnswer(s stdio, verb string, approve bool) *cobra.Command {
	c := &cobra.Command{Use: verb + " ID", Short: strings.ToUpper(verb[:1]) + verb[1:] + " one call, once", Args: cobra.ExactArgs(1)}
	reason := c.Flags().String("reason", "", "for the record, and for the agent where it is a denial")
	c.RunE = func(_ *cobra.Command, args []string) error {
		a, err := findApproval(args[0])
		if err != nil {
			return err
		}
		if err := a.client.Resolve(a.ID, control.Answer{Approve: approve, Actor: actor(), Reason: *reason}); err != nil {
			return err
		}
		past := map[bool]string{true: "approved", false: "denied"}[approve]
		_, err = fmt.Fprintf(s.out, "%s %s: %s on %s\n", a.ID, past, a.Tool, a.Upstream)
		return err
	}
	return c
}

func newSessions(s stdio) *cobra.Command {
	return group("sessions", "Look at the state of sessions, and mend it",
		sessionsList(s), sessionsShow(s), sessionsReset(s), sessionsSettle(s))
}

// owned is a session with the proxy that holds it.
type owned struct {
	proxy.SessionInfo
	client *control.Client
}

func sessions() ([]owned, error) {
	found, err := running()
	if err != nil {
		return nil, err
	}
	var all []owned
	for _, client := range found {
		list, err := client.Sessions()
		if err != nil {
			return nil, err
		}
		for _, info := range list {
			all = append(all, owned{info, client})
		}
	}
	return all, nil
}

func findSession(id string) (owned, error) {
	all, err := sessions()
	if err != nil {
		return owned{}, err
	}
	var hits []owned
	for _, o := range all {
		if strings.HasPrefix(o.ID, id) {
			hits = append(hits, o)
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	return owned{}, fmt.Errorf("%d sessions have an id that begins with %q; petrigate sessions ls lists them", len(hits), id)
}

func sessionsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List the sessions", Args: cobra.NoArgs}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(*cobra.Command, []string) error {
		all, err := sessions()
		if err != nil {
			return err
		}
		infos := []proxy.SessionInfo{}
		var rows [][]string
		for _, o := range all {
			infos = append(infos, o.SessionInfo)
			rows = append(rows, []string{o.ID, o.Principal, strings.Join(o.Clients, ", "), time.Since(o.Since).Round(time.Second).String(), strconv.Itoa(len(o.Calls))})
		}
		if *asJSON {
			return printJSON(s.out, map[string]any{"version": 1, "sessions": infos})
		}
		return table(s.out, "ID|PRINCIPAL|CLIENTS|AGE|OPEN CALLS", rows)
	}
	return c
}

func sessionsShow(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show the nets and the open calls of a session", Args: cobra.ExactArgs(1)}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(_ *cobra.Command, args []string) error {
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(s.out, map[string]any{"version": 1, "session": o.SessionInfo})
		}
		_, _ = fmt.Fprintf(s.out, "session %s of %s, by %s, since %s\n", o.ID, o.Principal, o.By, o.Since.Format(time.RFC3339))
		for _, n := range o.Nets {
			state := ""
			if !n.Active {
				state = " (inactive)"
			}
			_, _ = fmt.Fprintf(s.out, "  %s%s: %s\n", n.Name, state, n.Status)
		}
		for _, call := range o.Calls {
			_, _ = fmt.Fprintf(s.out, "  open call #%d: %s, for %s\n", call.Number, call.Tool, time.Since(call.Since).Round(time.Second))
		}
		return nil
	}
	return c
}

func sessionsReset(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "reset ID", Short: "Put every net of a session back to its start", Args: cobra.ExactArgs(1)}
	c.RunE = func(_ *cobra.Command, args []string) error {
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		if err := o.client.ResetSession(o.ID, control.Reset{Actor: actor()}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "session %s is as it began\n", o.ID)
		return err
	}
	return c
}

func sessionsSettle(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "settle ID CALL", Short: "Say how a call of unknown outcome ended", Args: cobra.ExactArgs(2),
		Example: "  petrigate sessions settle 3f2a 7 --failure",
	}
	success := c.Flags().Bool("success", false, "it took effect")
	failed := c.Flags().Bool("failure", false, "it did not")
	c.RunE = func(_ *cobra.Command, args []string) error {
		number, err := strconv.ParseUint(strings.TrimPrefix(args[1], "#"), 10, 64)
		if err != nil || *success == *failed {
			return &exit{exitUsage, errors.New("settle wants a session, the number of a call, and --success or --failure")}
		}
		o, err := findSession(args[0])
		if err != nil {
			return err
		}
		if err := o.client.SettleCall(o.ID, control.Settle{Call: number, Success: *success, Actor: actor()}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "call #%d of session %s is settled\n", number, o.ID)
		return err
	}
	return c
}
